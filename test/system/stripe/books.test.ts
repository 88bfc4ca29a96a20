// Payments in euros through examples/stripe, with every fault of the stand-in for Stripe, while adapters are killed.
// Afterwards the books of the shop and of Stripe are equal.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { booksOf } from '../../../services/orders/test/payment-books.ts';
import { type Customer, type ShopWithStripe, startShopWithStripe } from './shop-with-stripe.ts';
import { installStripe } from './started-adapter.ts';
import type { WebhookFault } from './stripe-webhooks.ts';

const faults: readonly WebhookFault[] = ['none', 'late', 'twice', 'out-of-order', 'silent'];
/** How often an adapter is killed, and how many payments and refunds Stripe has received before each further time. */
const [kills, movementsBetween] = [6, 15];

let shop: ShopWithStripe;
beforeAll(async () => {
  await installStripe();
  shop = await startShopWithStripe({ currency: 'EUR', decimals: 2, price: 9.99, faults: true });
});
afterAll(() => shop?.end());

interface PlacedOrder {
  readonly orderId: string;
  /** What it costs, in cents. */
  readonly total: number;
}

/** What a customer does with an order of two units. The number decides it. */
async function live(customer: Customer, { orderId, total }: PlacedOrder, number: number): Promise<void> {
  const fault = faults[number % faults.length] ?? 'none';
  const course = Math.floor(number / faults.length);
  const { standIn } = shop;
  const pay = (): Promise<void> => shop.pay(customer, orderId, fault);
  const payOther = (amount: number): Promise<string> => shop.payOther(orderId, amount, fault);
  const cancel = (units?: number): Promise<void> => shop.cancel(customer, orderId, units);
  const becomes = (status: string): Promise<void> => shop.becomes(customer, orderId, { status });
  if (course === 0) await pay();
  // A wrong amount, and then the right one.
  else if (course === 1) await payOther(number % 2 === 0 ? total - 1 : total + 1_000).then(pay);
  // Two payments.
  else if (course === 2) await Promise.all([payOther(total), pay()]);
  // Paid and cancelled at the same time.
  else if (course === 3) await Promise.all([pay(), cancel()]);
  else if (course === 4) {
    // The order expires while the customer pays.
    const intent = await shop.begun(customer, orderId);
    await shop.database.query('UPDATE order_payments SET due_at = now() WHERE order_id = $1', [orderId]);
    await becomes('cancelled');
    await standIn.act('pay', { intent, fault });
  } else if (course === 5) {
    // One unit is cancelled, and later the other one: what is due grows while the first refund is in progress.
    await pay();
    await becomes('paid');
    await cancel(1);
    if (number % 2 === 0) await cancel(1);
  } else if (course === 6) {
    // The refund of two payments is more than any of them.
    await Promise.all([payOther(total), pay()]);
    await becomes('paid');
    await cancel();
  } else if (course === 7) {
    // Staff pays a part back in the dashboard, before the order is cancelled.
    const intent = await payOther(total);
    await becomes('paid');
    await standIn.act('refund', { intent, amount: 1 });
    await cancel();
  } else if (course === 8) {
    // One unit is cancelled before the order is paid, so the amount of the first payment is wrong.
    const intent = await shop.begun(customer, orderId);
    await cancel(1);
    await standIn.act('pay', { intent, fault });
    await pay();
  }
  // In course 9, the customer never pays.
}

/** Kills one adapter after the other. They make progress in between, so they reconcile on a slow machine, too. */
async function killAdapters(): Promise<void> {
  for (let count = 1; count <= kills; count += 1) {
    await shop.eventually(async () => {
      const { intents, refunds } = await shop.standIn.ledger();
      const received = intents.filter(({ status }) => status === 'succeeded');
      expect(received.length + refunds.length).toBeGreaterThanOrEqual(count * movementsBetween);
    });
    const which = count % 2 === 0 ? 1 : 0;
    await shop.stop(which, 'SIGKILL');
    await shop.start(which);
  }
}

it('the books of the shop and of Stripe are equal in the end, whatever was late, lost, repeated or killed', async () => {
  const customer = await shop.newCustomer();
  const placed: PlacedOrder[] = [];
  for (let number = 0; number < 10 * faults.length; number += 1) {
    const { id: orderId, totalCost } = await shop.place(customer, 2);
    placed.push({ orderId, total: shop.toMinor(totalCost) });
  }
  const ids = placed.map(({ orderId }) => orderId);
  const lives = placed.map((order, number) => live(customer, order, number));
  const done = await Promise.allSettled([...lives, killAdapters()]);
  expect(done.filter(({ status }) => status === 'rejected')).toEqual([]);
  await shop.eventually(async () => {
    const { intents, refunds } = await shop.standIn.ledger();
    const known = new Set(ids);
    const received = intents.filter(({ metadata }) => known.has(metadata.orderId ?? ''));
    const names = new Set(received.map(({ id }) => id));
    const paidBack = refunds.filter((refund) => names.has(refund.payment_intent) && refund.status !== 'failed');
    const sum = (all: readonly { amount: number }[]): number => all.reduce((total, { amount }) => total + amount, 0);
    const books = await booksOf(shop.database, ids);
    expect(books).toMatchObject({ owed: 0, faults: [] });
    expect(books.received).toBe(received.reduce((total, one) => total + one.amount_received, 0));
    expect(books.paidBack).toBe(sum(paidBack));
    expect(books.received).toBe(books.kept + books.paidBack);
    expect(paidBack.every(({ status }) => status === 'succeeded')).toBe(true);
  });
  const { rows } = await shop.database.query<{ status: string; orders: number }>(
    'SELECT status, count(*)::int AS orders FROM order_payments WHERE order_id = ANY ($1::uuid[]) GROUP BY 1',
    [ids],
  );
  const states = new Map(rows.map(({ status, orders }) => [status, orders]));
  expect([states.get('due'), states.get('refund_due') ?? 0]).toEqual([5, 0]);
  expect(states.get('refunded') ?? 0).toBeGreaterThanOrEqual(15);
  expect(states.get('paid') ?? 0).toBeGreaterThanOrEqual(20);
  // The faults have happened.
  const { answers, refunds } = await shop.standIn.ledger();
  expect(answers[400] ?? 0).toBe(0);
  expect(refunds.some(({ status }) => status === 'failed')).toBe(true);
});
