// Starts accounts: wiring in start order, and nothing else.
import { fileURLToPath } from 'node:url';
import { createTokenVerifier } from '@shop/shared/auth';
import { connectDatabase, untilMigrated } from '@shop/shared/database';
import { startEvents } from '@shop/shared/events';
import { createApp, loadContract, serve } from '@shop/shared/http';
import { createHealth, runProcess } from '@shop/shared/runtime';
import { defineAccount } from './account.ts';
import { readAccountsConfig } from './config.ts';
import type { Context } from './context.ts';
import { operations } from './operations.ts';
import { createPasswords } from './password.ts';
import { startPruning } from './prune.ts';
import { createSeal } from './seal.ts';
import { followSigningKeys, prepareSigningKeys } from './signing-key.ts';
import { createTurns } from './turns.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

await runProcess('accounts', async (life) => {
  const { log } = life;
  const config = readAccountsConfig(process.env);
  const contract = loadContract(`${folder}/openapi.yaml`);
  const health = createHealth();

  const database = connectDatabase({ url: config.databaseUrl, name: 'accounts', log });
  life.onStop('database', () => database.close());
  health.add('database', () => database.ping());
  await untilMigrated(database.pool, `${folder}/migrations`, log);
  defineAccount(database.sequelize);
  life.onStop('pruning', startPruning(database, config.refreshTokenDays, log));

  const seal = createSeal(config.keyEncryptionSecret);
  await prepareSigningKeys(database, seal);

  const events = await startEvents({
    service: 'accounts',
    url: config.eventsUrl,
    databaseUrl: config.databaseUrl,
    database,
    log,
  });
  life.onStop('events', () => events.close());

  const verifier = createTokenVerifier({
    jwksUrl: config.jwksUrl,
    issuer: config.jwtIssuer,
    audience: config.jwtAudience,
    algorithm: config.jwtAlgorithm,
    log,
  });
  life.onStop('key set', () => verifier.close());

  const context: Context = {
    database,
    idempotencySecret: config.internalSecret,
    passwords: await createPasswords(createTurns({ running: config.hashConcurrency, waiting: config.hashQueue })),
    signingKeys: followSigningKeys(database, seal),
    tokenIssuer: { issuer: config.jwtIssuer, audience: config.jwtAudience },
    refreshTokenDays: config.refreshTokenDays,
  };
  const app = createApp({
    name: 'accounts',
    contract,
    operations,
    context,
    verifier,
    contractWatch: config.contractWatch,
    health,
    log,
  });
  await serve(app, { host: config.host, port: config.port, health, life });
});
