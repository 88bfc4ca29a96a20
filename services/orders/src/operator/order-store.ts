// The database and the caller with which operators read and change orders and returns.
import { randomBytes } from 'node:crypto';
import type { Caller } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { assertCurrency } from '@shop/shared/database';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readCommandConfig, toInvoiceSettings } from '../config.ts';
import type { OrderStore } from '../context.ts';
import { openOrders } from '../order/order.ts';
import { openReturns } from '../returns/return.ts';

/** The actor in the history of an order that an operator changes without a staff account. */
export const noAccount = '00000000-0000-0000-0000-000000000000';

export function operator(accountId: string): Caller {
  const scopes = new Set(['orders:fulfil', 'orders:read-all']);
  const unsaid = { credentialsVersion: undefined, authTime: undefined, sessionId: undefined };
  return { accountId, isMachine: false, scopes, emailVerified: true, issuedAt: 0, ...unsaid };
}

export async function withOrders<T>(environment: Environment, use: (store: OrderStore) => Promise<T>): Promise<T> {
  const config = readCommandConfig(environment);
  const { databaseUrl: url, currency, returnShipping } = config;
  return withDatabase({ url, name: 'manage orders' }, async (database) => {
    await assertCurrency(database.pool, currency);
    // Operators use no cursors and no idempotency keys, so the keys may be arbitrary.
    const cursors = createCursors([randomBytes(32)]);
    return use({
      database,
      orders: openOrders(currency, cursors),
      returns: openReturns(currency, cursors),
      invoices: toInvoiceSettings(config),
      keepShipping: returnShipping === 'keep',
      idempotencySecrets: [''],
    });
  });
}
