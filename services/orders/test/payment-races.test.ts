// Races on one order: expiry against payment, payment against cancellation, cancellation against processing, and
// payment against processing. RACE_ROUNDS is the number of races; 1,000 is the full test.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '@shop/shared/database';
import { createLog, newId } from '@shop/shared/runtime';
import { startServices, type TestServices } from '@shop/shared/testing';
import { expireOrder, unpaid } from '../src/jobs/expire-orders.ts';
import { booksOf } from './payment-books.ts';

const pairs = Number(process.env.RACE_ROUNDS ?? 200);
const atOnce = 8;
const accountId = newId();

let services: TestServices;
/** A database connection that expires orders, as a second replica of the service does. */
let replica: Database;
let token: string;

beforeAll(async () => {
  services = await startServices(['orders'], { environment: { PAYMENTS: 'required', ORDER_PENDING_HOURS: '0' } });
  const url = services.database.urls.orders;
  replica = connectDatabase({ url, name: 'tests', log: createLog('tests', 'silent') });
  token = await services.issuer.sign({ accountId, scopes: ['payments:write', 'orders:fulfil'] });
});
afterAll(async () => {
  await replica.close();
  await services.stop();
});

/** Inserts rows of orders that have to be paid. */
async function placed(count = pairs): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await services.service('orders').database.query(
    `WITH placed AS (
       INSERT INTO orders (id, account_id, reservation_id, status, currency, total_minor)
       SELECT id, $2, gen_random_uuid(), 'pending', 'EUR', 1998 FROM unnest($1::uuid[]) AS id RETURNING id, account_id
     ), lines AS (
       INSERT INTO order_lines (order_id, account_id, position, product_id, name,
         quantity, unit_price_minor, line_total_minor)
       SELECT id, account_id, 1, gen_random_uuid(), 'Cup', 2, 999, 1998 FROM placed
     )
     INSERT INTO order_payments (order_id, account_id, status, due_at)
     SELECT id, account_id, 'due', now() + interval '1 hour' FROM placed`,
    [ids, accountId],
  );
  return ids;
}

async function act(id: string, action: 'payments' | 'cancel' | 'process'): Promise<number> {
  const body = action === 'payments' ? { reference: `payment of ${id}`, amount: 19.98, currency: 'EUR' } : undefined;
  const { client } = services.service('orders');
  // A busy database may answer 503. Each action can be repeated.
  for (;;) {
    const { status } = await client.post(`/v1/orders/${id}/${action}`, { token, ...(body && { body }) });
    if (status !== 503) return status;
  }
}

/** Runs both actions on each order concurrently, and returns how often each outcome occurred. */
async function race(ids: readonly string[], first: Action, second: Action): Promise<Record<string, number>> {
  const left = [...ids];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        await Promise.all(left.length % 2 === 0 ? [first(id), second(id)] : [second(id), first(id)]);
      }
    }),
  );
  const { rows } = await services.service('orders').database.query<{ outcome: string; orders: number }>(
    `SELECT concat_ws(' ', o.status, p.status, (SELECT string_agg(type, ' ' ORDER BY sequence)
       FROM outbox WHERE subject = o.id::text AND type <> 'order.updated.v1'))
       AS outcome, count(*)::int AS orders
     FROM orders AS o JOIN order_payments AS p ON p.order_id = o.id WHERE o.id = ANY ($1::uuid[]) GROUP BY 1`,
    [ids],
  );
  return Object.fromEntries(rows.map(({ outcome, orders }) => [outcome, orders]));
}

type Action = (id: string) => Promise<unknown>;

const pay: Action = async (id) => expect(await act(id, 'payments')).toBe(200);
const cancel: Action = async (id) => expect(await act(id, 'cancel')).toBe(200);
const begin: Action = async (id) => expect([200, 409]).toContain(await act(id, 'process'));
const expire: Action = (id) => expireOrder(replica, id, unpaid);

it('a paid order stays, or the payment of an expired order is due as a refund, when expiry races with payment', async () => {
  const ids = await placed();
  const outcomes = await race(ids, expire, pay);
  expectOnly(outcomes, ['cancelled refund_due order.cancelled.v1 refund.due.v1', 'pending paid order.paid.v1']);
  await expectBalanced(ids);
});

it('the expiry job does not cancel an order without a due amount', async () => {
  const ids = await placed(1);
  const { database } = services.service('orders');
  // As cancelling all units that cost something leaves it.
  await database.query("UPDATE order_payments SET status = 'not_required', due_at = NULL WHERE order_id = $1", [
    ids[0],
  ]);
  expect(await expireOrder(replica, ids[0] ?? '', unpaid)).toBe(false);
  const { rows } = await database.query('SELECT status FROM orders WHERE id = $1', [ids[0]]);
  expect(rows).toEqual([{ status: 'pending' }]);
});

it('a refund is due once for each payment when payment races with cancellation', async () => {
  const ids = await placed();
  const outcomes = await race(ids, pay, cancel);
  expectOnly(outcomes, [
    'cancelled refund_due order.cancelled.v1 refund.due.v1',
    'cancelled refund_due order.paid.v1 order.cancelled.v1 refund.due.v1',
  ]);
  await expectBalanced(ids);
});

it('a refund is due once for each payment when a cancellation and the start of processing race', async () => {
  const ids = await placed();
  for (let from = 0; from < ids.length; from += 50) await Promise.all(ids.slice(from, from + 50).map(pay));
  const outcomes = await race(ids, cancel, begin);
  expectOnly(outcomes, [
    'cancelled refund_due order.paid.v1 order.cancelled.v1 refund.due.v1',
    'cancelled refund_due order.paid.v1 order.processing.v1 order.cancelled.v1 refund.due.v1',
  ]);
  await expectBalanced(ids);
});

it('no unpaid order is processed when payment races with processing', async () => {
  const ids = await placed();
  const outcomes = await race(ids, pay, begin);
  expectOnly(outcomes, ['pending paid order.paid.v1', 'processing paid order.paid.v1 order.processing.v1']);
  await expectBalanced(ids);
});

/** The possible outcomes of a pair. Which of them occur depends on the speed of the machine. */
function expectOnly(outcomes: Readonly<Record<string, number>>, permitted: readonly string[]): void {
  expect(Object.keys(outcomes).filter((outcome) => !permitted.includes(outcome))).toEqual([]);
}

/** Every received amount either pays an order, is due as a refund, or was refunded. */
async function expectBalanced(ids: readonly string[]): Promise<void> {
  const books = await booksOf(services.service('orders').database, ids);
  expect(books).toMatchObject({ received: 1998 * ids.length, faults: [] });
  expect(books.received).toBe(books.kept + books.owed + books.paidBack);
}
