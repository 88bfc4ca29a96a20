// Starts changes.
import { fileURLToPath } from 'node:url';
import { createEncryption } from '@shop/shared/auth';
import { startPruning, untilAvailable } from '@shop/shared/database';
import { type BatchHandler, consumers } from '@shop/shared/events';
import { startService } from '@shop/shared/service';
import { readEnvironment } from './config.ts';
import { addEvents } from './feed/add-events.ts';
import { keptDays } from './feed/change.ts';
import { ChangeReader } from './feed/change-reader.ts';
import type { FeedEventType } from './feed/changed-resource.ts';
import { openFeedCursors } from './feed/feed-cursors.ts';
import { observeHeldChanges } from './feed/held-changes.ts';
import { LiveStreams } from './feed/live-streams.ts';
import { operations } from './operations.ts';
import { openPresentScopes } from './webhooks/present-scopes.ts';
import { startResealing } from './webhooks/reseal-secrets.ts';
import { startSender } from './webhooks/sender.ts';
import { openSigningKey, toKeySet } from './webhooks/signing-keys.ts';
import { deleteWebhooksOf } from './webhooks/webhook-store.ts';

const consumer = 'changes.feed';

await startService({
  name: 'changes',
  folder: fileURLToPath(new URL('..', import.meta.url)),
  readConfig: readEnvironment,
  async build({ config, database, log, onStop, callService }) {
    // No migration adds the row, because a restore needs empty tables.
    await untilAvailable(() => database.pool.query('INSERT INTO feed DEFAULT VALUES ON CONFLICT DO NOTHING'), log);
    const expired = [
      { table: 'changes', since: 'placed_at', hours: keptDays * 24 },
      { table: 'delivery_attempts', since: 'started_at', hours: keptDays * 24 },
    ];
    onStop('pruning changes', startPruning(database.pool, expired, log));
    observeHeldChanges(database);
    const webhookEncryption = createEncryption(config.webhookKeys, 'webhook secrets');
    if (config.webhookKeys.length > 1) {
      onStop('resealing webhooks', startResealing(database, webhookEncryption, log));
    }
    const reader = new ChangeReader(database, log);
    const streams = new LiveStreams();
    const accounts = config.webhookScopes === 'accounts' ? callService('accounts', config.accountsUrl) : undefined;
    const sender = startSender({
      ...{ database, reader, log, encryption: webhookEncryption, key: openSigningKey(config.webhookKeys) },
      ...{ presentScopes: openPresentScopes(accounts), allowed: config.webhooksAllow, ownOrigin: config.issuer },
    });
    onStop('webhooks', () => sender.close());
    const handler: BatchHandler<FeedEventType> = {
      async handleAll(events, tx) {
        await addEvents(tx, events);
        const erased = events.filter(({ type }) => type === 'account.erased.v1');
        await deleteWebhooksOf(
          tx,
          erased.map(({ subject }) => subject),
        );
      },
    };
    const handlers = Object.fromEntries(consumers[consumer].map((type) => [type, handler]));
    return {
      operations,
      context: {
        database,
        reader,
        cursors: openFeedCursors(config.cursorKeys),
        streams,
        webhookEncryption,
        webhookKeys: toKeySet(config.webhookKeys),
        urlRules: { allowed: config.webhooksAllow, shop: config.issuer },
        idempotencySecrets: config.internalSecrets,
      },
      endStreams: () => reader.close(),
      consume: { name: consumer, handlers: handlers as Record<FeedEventType, typeof handler> },
    };
  },
});
