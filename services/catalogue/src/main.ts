// Starts the catalogue: wiring in start order, and nothing else.
import { fileURLToPath } from 'node:url';
import { createServiceTokens, createTokenVerifier } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { connectDatabase, keepCurrency, untilMigrated } from '@shop/shared/database';
import { startEvents } from '@shop/shared/events';
import { createApp, createInternalClient, loadContract, serve, startPruningKeys } from '@shop/shared/http';
import { createHealth, runProcess } from '@shop/shared/runtime';
import { readCatalogueConfig } from './config.ts';
import { onOrderCancelled } from './on-order-cancelled.ts';
import { onOrderCreated } from './on-order-created.ts';
import { onOrderShipped } from './on-order-shipped.ts';
import { operations } from './operations.ts';
import { openProducts } from './product.ts';
import { startSettling } from './settle-reservations.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

await runProcess('catalogue', async (life) => {
  const { log } = life;
  const config = readCatalogueConfig(process.env);
  const health = createHealth();

  const database = connectDatabase({ url: config.databaseUrl, name: 'catalogue', log });
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

  const serviceTokens = createServiceTokens({ secret: config.internalSecret, name: 'catalogue' });
  const orders = createInternalClient({ url: config.ordersUrl, service: 'orders', serviceTokens });
  life.onStop('calls to orders', () => orders.close());
  life.onStop('settling', startSettling({ database, orders, log }));

  const events = await startEvents({
    service: 'catalogue',
    url: config.eventsUrl,
    databaseUrl: config.databaseUrl,
    database,
    log,
    consume: {
      name: 'catalogue.inventory',
      handlers: {
        'order.created.v1': onOrderCreated,
        'order.shipped.v1': onOrderShipped,
        'order.cancelled.v1': onOrderCancelled,
      },
    },
  });
  life.onStop('events', () => events.close());

  const products = openProducts(config.currency, createCursors(config.cursorKeys));
  const context = {
    database,
    products,
    reservationSeconds: config.reservationSeconds,
    idempotencySecret: config.internalSecret,
  };

  const app = createApp({
    name: 'catalogue',
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
