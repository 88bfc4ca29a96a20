// Starts accounts.
import { fileURLToPath } from 'node:url';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { startPruning, untilAvailable } from '@shop/shared/database';
import { startErasing, startService } from '@shop/shared/service';
import { defineAccount } from './account/account.ts';
import { connectModels } from './account/models.ts';
import { readEnvironment } from './config.ts';
import type { CallingContext } from './context.ts';
import { eraseTraces, startErasingAccounts } from './jobs/erase-accounts.ts';
import { startFillingMailboxKeys } from './jobs/fill-mailbox-keys.ts';
import { expiredAccountRows } from './jobs/prune.ts';
import { operations } from './operations.ts';
import { createKeyEncryption } from './session/key-encryption.ts';
import { createPasswords } from './session/password-hash.ts';
import { Semaphore } from './session/semaphore.ts';
import { followSigningKeys, prepareSigningKeys } from './session/signing-key.ts';
import { openSupportCollections } from './support/support-collections.ts';

await startService({
  name: 'accounts',
  folder: fileURLToPath(new URL('..', import.meta.url)),
  readConfig: readEnvironment,
  async build({ config, database, log, callService, onStop }) {
    defineAccount(connectModels(database.pool));
    onStop('pruning accounts', startPruning(database.pool, expiredAccountRows(config.refreshTokenDays), log));
    onStop('filling mailbox keys', startFillingMailboxKeys(database, log));
    onStop('erasing accounts', startErasingAccounts({ database, log }));
    onStop('erasing traces', startErasing({ database, log, erase: eraseTraces }));
    const encryption = createKeyEncryption(config.keyEncryptionSecrets);
    await untilAvailable(() => prepareSigningKeys(database, encryption), log);
    const context: CallingContext = {
      database,
      idempotencySecrets: config.internalSecrets,
      passwords: await createPasswords(new Semaphore({ running: config.hashConcurrency, waiting: config.hashQueue })),
      signingKeys: followSigningKeys(database, encryption),
      tokenIssuer: { issuer: config.issuer, audience: config.audience },
      refreshLifetimes: config,
      emailTokenSeal: createEmailTokenSeal(config.internalSecrets),
      support: openSupportCollections(createCursors(config.cursorKeys)),
      orders: callService('orders', config.ordersUrl),
      notifications: callService('notifications', config.notificationsUrl),
      changes: callService('changes', config.changesUrl),
    };
    return { operations, context };
  },
});
