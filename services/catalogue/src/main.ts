// Starts the catalogue: wiring in start order, and nothing else.
import { fileURLToPath } from 'node:url';
import { createServiceTokens, createTokenVerifier } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { connectDatabase, untilMigrated } from '@shop/shared/database';
import { createApp, loadContract, serve } from '@shop/shared/http';
import { createHealth, runProcess } from '@shop/shared/runtime';
import { readCatalogueConfig } from './config.ts';
import { operations } from './operations.ts';
import { openProducts } from './product.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

await runProcess('catalogue', async (life) => {
  const { log } = life;
  const config = readCatalogueConfig(process.env);
  const health = createHealth();

  const database = connectDatabase({ url: config.databaseUrl, name: 'catalogue', log });
  life.onStop('database', () => database.close());
  health.add('database', () => database.ping());
  await untilMigrated(database.pool, `${folder}/migrations`, log);

  const verifier = createTokenVerifier({
    jwksUrl: config.jwksUrl,
    issuer: config.jwtIssuer,
    audience: config.jwtAudience,
    log,
  });
  life.onStop('key set', () => verifier.close());

  const products = openProducts(config.currency, createCursors(config.cursorKeys));
  const context = { database, products, idempotencySecret: config.internalSecret };

  const app = createApp({
    name: 'catalogue',
    contract: loadContract(`${folder}/openapi.yaml`),
    operations,
    context,
    verifier,
    serviceTokens: createServiceTokens({ secret: config.internalSecret, name: 'catalogue' }),
    health,
    log,
  });
  await serve(app, { host: config.host, port: config.port, health, life });
});
