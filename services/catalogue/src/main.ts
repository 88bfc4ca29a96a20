// Starts the catalogue.
import { fileURLToPath } from 'node:url';
import { createCursors } from '@shop/shared/collection';
import { assertCurrency, openReadReplica, startPruning, untilAvailable } from '@shop/shared/database';
import { startService } from '@shop/shared/service';
import { readEnvironment, replicaAddress } from './config.ts';
import type { CatalogueContext } from './context.ts';
import { onOrderCancelled } from './handlers/on-order-cancelled.ts';
import { onOrderCreated } from './handlers/on-order-created.ts';
import { onOrderLinesCancelled } from './handlers/on-order-lines-cancelled.ts';
import { onOrderProcessing } from './handlers/on-order-processing.ts';
import { onOrderShipped } from './handlers/on-order-shipped.ts';
import { onReturnReceived } from './handlers/on-return-received.ts';
import { observeImports } from './imports/measure-imports.ts';
import { expiredImports, startImporting } from './imports/run-imports.ts';
import { observeHolds } from './jobs/measure-holds.ts';
import { startResolving } from './jobs/resolve-reservations.ts';
import { operations } from './operations.ts';
import { ProductPages } from './pages/product-pages.ts';
import { openProducts } from './product/product.ts';
import { openProductReads } from './product/product-reads.ts';
import { checkSearchLanguage } from './search/search-language.ts';
import { beginCountingStock } from './stock/measure-stock.ts';

await startService({
  name: 'catalogue',
  folder: fileURLToPath(new URL('..', import.meta.url)),
  readConfig: readEnvironment,
  async build({ config, database, log, callService, onStop }) {
    beginCountingStock();
    await untilAvailable(async () => {
      await assertCurrency(database.pool, config.currency);
      await checkSearchLanguage(database.pool, config.searchLanguage, log);
    }, log);
    observeHolds(database);
    observeImports(database);
    const orders = callService('orders', config.ordersUrl);
    onStop('resolving reservations', startResolving({ database, orders, log }));
    onStop('imports', startImporting({ database, currency: config.currency, log }));
    onStop('pruning imports', startPruning(database.pool, expiredImports, log));
    const { readUrl, readLag: maximumLag, pageCacheMb, databaseUrl } = config;
    const primary = database.pool;
    const replicaUrl = readUrl && replicaAddress(readUrl, databaseUrl);
    const replica = replicaUrl && openReadReplica({ replicaUrl, primary, maximumLag, name: 'catalogue', log });
    if (replica) onStop('replica', () => replica.close());
    const pages =
      pageCacheMb === 0
        ? undefined
        : new ProductPages({ databaseUrl, maximumBytes: pageCacheMb * 2 ** 20, longestSilence: maximumLag, log });
    if (pages) onStop('pages', () => pages.close());
    const context: CatalogueContext = {
      database,
      reads: openProductReads({ primary, replica: replica || undefined, pages }),
      products: openProducts(config.currency, createCursors(config.cursorKeys), config.attributes),
      reservationSeconds: config.reservationSeconds,
      idempotencySecrets: config.internalSecrets,
    };
    const handlers = {
      'order.created.v1': onOrderCreated,
      'order.processing.v1': onOrderProcessing,
      'order.shipped.v1': onOrderShipped,
      'order.cancelled.v1': onOrderCancelled,
      'order.lines-cancelled.v1': onOrderLinesCancelled,
      'return.received.v1': onReturnReceived,
    };
    return { operations, context, cache: pages, consume: { name: 'catalogue.inventory', handlers } };
  },
});
