// Starts orders.
import { fileURLToPath } from 'node:url';
import { createEncryption } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { assertCurrency, untilAvailable } from '@shop/shared/database';
import { startErasing, startService } from '@shop/shared/service';
import { readEnvironment, toInvoiceSettings } from './config.ts';
import type { OrdersContext } from './context.ts';
import { onAccountErased } from './handlers/on-account-erased.ts';
import { onAccountRegistered } from './handlers/on-account-registered.ts';
import { onAccountUpdated } from './handlers/on-account-updated.ts';
import { onNotificationSent } from './handlers/on-notification-sent.ts';
import { onStockLinesReleased } from './handlers/on-stock-lines-released.ts';
import { onStockReleased } from './handlers/on-stock-released.ts';
import { onStockReturned } from './handlers/on-stock-returned.ts';
import { startExpiring } from './jobs/expire-orders.ts';
import { startRemovingBuyers } from './jobs/remove-buyers.ts';
import { operations } from './operations.ts';
import { startCounting } from './order/count-orders.ts';
import { eraseOrders } from './order/erase-orders.ts';
import { observeOrders } from './order/measure-orders.ts';
import { openOrders } from './order/order.ts';
import { openReturns } from './returns/return.ts';
import { openPricingSettings } from './settings/pricing-settings.ts';
import { openSettings } from './settings/settings.ts';

await startService({
  name: 'orders',
  folder: fileURLToPath(new URL('..', import.meta.url)),
  readConfig: readEnvironment,
  async build({ config, database, contract, log, callService, onStop }) {
    await untilAvailable(() => assertCurrency(database.pool, config.currency), log);
    observeOrders(database);
    const cursors = createCursors(config.cursorKeys);
    const context: OrdersContext = {
      database,
      orders: openOrders(config.currency, cursors),
      returns: openReturns(config.currency, cursors),
      keepShipping: config.returnShipping === 'keep',
      invoices: toInvoiceSettings(config),
      returnDays: config.returnDays,
      settings: openSettings(config.currency, cursors, contract),
      pricingSettings: openPricingSettings(database, config),
      catalogue: callService('catalogue', config.catalogueUrl),
      quotes: createEncryption(config.internalSecrets, 'quotes'),
      log,
      holdSettings: { orders: config.holdOrders, units: config.holdUnits },
      holdNetworkUnits: config.holdNetworkUnits,
      needsVerifiedEmail: config.orderEmailVerification === 'required',
      paymentDueMinutes: config.payments === 'required' ? config.paymentDueMinutes : undefined,
      idempotencySecrets: config.internalSecrets,
    };
    onStop('expiring orders', startExpiring({ database, pendingHours: config.pendingHours, log }));
    onStop('adding up finished orders', startCounting(database.pool, log));
    onStop('removing buyers', startRemovingBuyers({ database, invoiceYears: config.invoiceYears, log }));
    onStop('erasing orders', startErasing({ database, log, erase: eraseOrders }));
    const handlers = {
      'account.erased.v1': onAccountErased,
      'account.registered.v1': onAccountRegistered,
      'account.updated.v1': onAccountUpdated,
      'stock.released.v1': onStockReleased,
      'stock.lines-released.v1': onStockLinesReleased,
      'stock.returned.v1': onStockReturned,
      'notification.sent.v1': onNotificationSent,
    };
    return { operations, context, consume: { name: 'orders.effects', handlers } };
  },
});
