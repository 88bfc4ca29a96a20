// Payments of a provider with faults, through an adapter. Afterwards the ledgers of the provider and of the shop agree,
// no order was paid twice, and every payment that was not for an order was refunded.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { listRefundsDue } from '../src/operator/index.ts';
import { type Adapter, type RefundDueEvent, startAdapter } from './payment-adapter.ts';
import { booksOf } from './payment-books.ts';
import type { Movement, ProviderFault } from './payment-provider.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

const webhookSecret = 'the secret of the webhook';
const price = 9.99;

let shop: TestShop;
let customer: Customer;
let adapter: Adapter;
let provider: ChildProcess;
let providerUrl: string;

beforeAll(async () => {
  shop = await startShop({ environment: { PAYMENTS: 'required' } });
  customer = await shop.customer();
  const { token } = await shop.customer('payments:write');
  adapter = await startAdapter({ shop: shop.orders, token, webhookSecret });
  provider = spawn(process.execPath, [fileURLToPath(new URL('payment-provider.ts', import.meta.url))], {
    env: { WEBHOOK_URL: adapter.url, WEBHOOK_SECRET: webhookSecret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer];
  providerUrl = line.toString().trim();
});
afterAll(async () => {
  provider?.kill();
  adapter?.close();
  await shop.stop();
});

const database = () => shop.services.service('orders').database;

async function pay(orderId: string, fault: ProviderFault, amount = price): Promise<void> {
  const body = JSON.stringify({ orderId, amount, currency: 'EUR', fault });
  await fetch(`${providerUrl}/payments`, { method: 'POST', body });
}

/** Runs each step of the adapter once. A real adapter repeats these steps. */
async function settle(): Promise<void> {
  await adapter.reconcile(providerUrl);
  const { rows } = await database().query<{ data: RefundDueEvent }>(
    "SELECT data FROM outbox WHERE type = 'refund.due.v1'",
  );
  await adapter.payBack(
    providerUrl,
    rows.map(({ data }) => data),
  );
}

/** Simulates a customer who places and pays an order. The number decides what the customer does. */
async function live(id: string, number: number): Promise<void> {
  const fault = (['none', 'late', 'twice', 'out-of-order', 'silent'] as const)[number % 5] ?? 'none';
  const course = Math.floor(number / 5) % 6;
  if (course === 0) await pay(id, fault);
  // The customer pays a wrong amount, and then pays again.
  else if (course === 1) await pay(id, fault, number % 2 === 0 ? 9.98 : 20).then(() => pay(id, fault));
  // The customer pays in two browser windows.
  else if (course === 2) await Promise.all([pay(id, fault), pay(id, 'none')]);
  else if (course === 3) await Promise.all([pay(id, fault), shop.act(customer, id, 'cancel')]);
  // The order expires while the customer pays.
  else if (course === 4) {
    await database().query('UPDATE order_payments SET due_at = now() WHERE order_id = $1', [id]);
    await pay(id, fault);
  }
  // In course 5, the customer never pays.
}

const cents = (movements: readonly Movement[], kind: Movement['kind']): number =>
  movements.filter((movement) => movement.kind === kind).reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);

it('the shop agrees with the provider, and owes nothing in the end', async () => {
  const product = await shop.product({ stock: 1_000, price });
  const ids: string[] = [];
  for (let number = 0; number < 120; number += 1) {
    const { body } = await shop.order(customer, { [product]: 1 });
    ids.push(body.id);
  }
  await Promise.all(ids.map(live));
  const environment = { DATABASE_URL: shop.services.database.urls.orders };
  await eventually(async () => {
    await settle();
    const expired = "SELECT order_id FROM order_payments WHERE status = 'due' AND due_at < now()";
    expect((await database().query(expired)).rows).toEqual([]);
    expect(await listRefundsDue(environment, 1_000)).toEqual([]);
  }, 120_000);
  // Reports of refunds that arrive after reconciliation has recorded them, and further runs, change nothing.
  await settle();

  const movements = (await (await fetch(`${providerUrl}/movements`)).json()) as Movement[];
  const books = await booksOf(database(), ids);
  expect(books).toMatchObject({ owed: 0, faults: [] });
  expect([books.received, books.paidBack]).toEqual([cents(movements, 'payment'), cents(movements, 'refund')]);
  expect(books.received).toBe(books.kept + books.paidBack);

  const { rows } = await database().query<{ state: string; orders: number }>(
    `SELECT o.status || ' ' || p.status AS state, count(*)::int AS orders
     FROM orders AS o JOIN order_payments AS p ON p.order_id = o.id GROUP BY 1`,
  );
  const states = new Map(rows.map(({ state, orders }) => [state, orders]));
  // The orders of courses 0 to 2 are paid, those of course 3 cancelled, those of course 4 paid or expired, and those of
  // course 5 still due.
  const [expired = 0, paid = 0] = [states.get('cancelled refunded'), states.get('pending paid')];
  expect([...states.keys()].sort()).toEqual(['cancelled refunded', 'pending due', 'pending paid']);
  expect([paid >= 60, expired >= 20, paid + expired, states.get('pending due')]).toEqual([true, true, 100, 20]);
});
