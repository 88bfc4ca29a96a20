// Starts orders: wiring in start order, and nothing else.
import { fileURLToPath } from 'node:url';
import { createServiceTokens, createTokenVerifier } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { connectDatabase, keepCurrency, untilMigrated } from '@shop/shared/database';
import { startEvents } from '@shop/shared/events';
import { createApp, createInternalClient, loadContract, serve, startPruningKeys } from '@shop/shared/http';
import { createHealth, runProcess } from '@shop/shared/runtime';
import { readOrdersConfig } from './config.ts';
import { onNotificationSent } from './on-notification-sent.ts';
import { onStockReleased } from './on-stock-released.ts';
import { operations } from './operations.ts';
import { openOrders } from './order.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

await runProcess('orders', async (life) => {
  const { log } = life;
  const config = readOrdersConfig(process.env);
  const health = createHealth();

  const database = connectDatabase({ url: config.databaseUrl, name: 'orders', log });
  life.onStop('database', () => database.close());
  health.add('database', () => database.ping());
  await untilMigrated(database.pool, `${folder}/migrations`, log);
  await keepCurrency(database.pool, config.currency);
  life.onStop('pruning', startPruningKeys(database, log));

  const verifier = createTokenVerifier({
    jwksUrl: config.jwksUrl,
    issuer: config.jwtIssuer,
    audience: config.jwtAudience,
    algorithm: config.jwtAlgorithm,
    log,
  });
  life.onStop('key set', () => verifier.close());

  const serviceTokens = createServiceTokens({ secret: config.internalSecret, name: 'orders' });
  const catalogue = createInternalClient({ url: config.catalogueUrl, service: 'catalogue', serviceTokens });
  life.onStop('calls to the catalogue', () => catalogue.close());

  const events = await startEvents({
    service: 'orders',
    url: config.eventsUrl,
    databaseUrl: config.databaseUrl,
    database,
    log,
    consume: {
      name: 'orders.effects',
      handlers: { 'stock.released.v1': onStockReleased, 'notification.sent.v1': onNotificationSent },
    },
  });
  life.onStop('events', () => events.close());

  const orders = openOrders(config.currency, createCursors(config.cursorKeys));
  const context = { database, orders, catalogue, log, idempotencySecret: config.internalSecret };
  const app = createApp({
    name: 'orders',
    contract: loadContract(`${folder}/openapi.yaml`),
    operations,
    context,
    verifier,
    serviceTokens,
    contractWatch: config.contractWatch,
    health,
    log,
  });
  await serve(app, { host: config.host, port: config.port, health, life });
});
