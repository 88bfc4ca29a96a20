// The operator's command for orders: `list`, `show ID`, `processing|shipped|delivered ID…`, by the operations of the API
// themselves, so that rules, history and events are the same. No service has to run: what it writes into the outbox is
// published by whichever relay comes next.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Caller } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { assertCurrency } from '@shop/shared/database';
import { type OperationRequest, type Reply, requestIdentity } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { isId, StartError } from '@shop/shared/runtime';
import { runCommand, type Say, withDatabase } from '@shop/shared/service';
import { advanceOrder } from './advance-order.ts';
import { readCommandConfig } from './config.ts';
import type { OrderBook } from './context.ts';
import { getOrder } from './get-order.ts';
import { getOrderHistory } from './get-order-history.ts';
import { openOrders } from './order.ts';
import { statuses } from './order-status.ts';

/** Whoever works on the command line without saying for whom. */
const nobody = '00000000-0000-0000-0000-000000000000';

const usage =
  'use: list [--status S] [--account ID] [--before ID] [--limit N] | show ID | processing|shipped|delivered ID… [--as ID]';

interface Options {
  readonly status?: string;
  readonly account?: string;
  readonly before?: string;
  readonly limit?: string;
  readonly as?: string;
}

function requestOf(operationId: string, orderId: string, caller: Caller) {
  return {
    operationId,
    method: 'POST',
    url: `/v1/orders/${orderId}`,
    ...requestIdentity({}),
    caller,
    path: { orderId },
    query: {},
    headers: {},
    body: undefined,
    faults: [],
  } satisfies OperationRequest;
}

/** The body of an answer. */
function contentOf({ json, body }: Reply<unknown>): unknown {
  return json === undefined ? body : JSON.parse(json);
}

/** All accounts' orders, the newest first: ids grow with time, so that the primary key gives the order. */
async function list({ database, orders }: OrderBook, caller: Caller, options: Options): Promise<unknown[]> {
  const limit = Number(options.limit ?? 20);
  const { rows } = await database.pool.query<Record<string, string | null>>(
    `SELECT ${orders.columns} FROM orders
     WHERE ($1::text IS NULL OR status = $1) AND ($2::uuid IS NULL OR account_id = $2) AND ($3::uuid IS NULL OR id < $3)
     ORDER BY id DESC LIMIT $4`,
    [options.status ?? null, options.account ?? null, options.before ?? null, limit],
  );
  return rows.map((row) => contentOf(orders.reply(200, row, caller)));
}

async function show(book: OrderBook, caller: Caller, id: string): Promise<unknown> {
  const history = contentOf(await getOrderHistory(requestOf('getOrderHistory', id, caller), book)) as {
    items: unknown;
  };
  return { ...(contentOf(await getOrder(requestOf('getOrder', id, caller), book)) as object), history: history.items };
}

/** The order after the step, or why it was not taken. */
async function advance(book: OrderBook, caller: Caller, id: string, to: Step): Promise<unknown> {
  try {
    return { id, order: contentOf(await advanceOrder(requestOf(to, id, caller), book, to)) };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return { id, refused: error.message, code: error.code };
  }
}

const steps = ['processing', 'shipped', 'delivered'] as const;
type Step = (typeof steps)[number];

function check({ status, limit = '20', ...ids }: Options, named: readonly string[]): void {
  if (status !== undefined && !statuses.some((known) => known === status)) throw new StartError(usage);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > 1000) throw new StartError(usage);
  if ([...Object.values(ids), ...named].some((id) => id !== undefined && !isId(id))) throw new StartError(usage);
}

/** Writes a line of JSON for each order. */
async function main(say: Say): Promise<void> {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    options: { status: text, account: text, before: text, limit: text, as: text },
    allowPositionals: true,
  });
  const [verb, ...ids] = positionals;
  check(values, ids);
  const { databaseUrl: url, currency } = readCommandConfig(process.env);
  const scopes = new Set(['orders:fulfil', 'orders:read-all']);
  const caller: Caller = { accountId: values.as ?? nobody, scopes, credentialsVersion: undefined, issuedAt: 0 };
  await withDatabase({ url, name: 'manage-orders' }, async (database) => {
    await assertCurrency(database.pool, currency);
    // No page is continued here, and no answer kept for a key: what seals them may be anything.
    const orders = openOrders(currency, createCursors([randomBytes(32)]));
    const book: OrderBook = { database, orders, idempotencySecret: '' };
    const step = steps.find((known) => known === verb);
    const [id] = ids;
    if (verb === 'list' && id === undefined) for (const order of await list(book, caller, values)) say(order);
    else if (verb === 'show' && id !== undefined && ids.length === 1) say(await show(book, caller, id));
    else if (step !== undefined && id !== undefined)
      for (const each of ids) say(await advance(book, caller, each, step));
    else throw new StartError(usage);
  });
}

await runCommand('manage-orders', main);
