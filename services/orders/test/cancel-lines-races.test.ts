// Cancellations of units race with each other, with the cancellation of the order, and with its steps. Afterwards the
// stock ledger contains every unit exactly once. RACE_ROUNDS is the number of orders for each pair.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { verifyStock } from '../../catalogue/src/operator/index.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

const rounds = Number(process.env.RACE_ROUNDS ?? 24);
const clients = 6;

let shop: TestShop;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
});
afterAll(() => shop.stop());

type Act = (id: string, product: string) => Promise<TestAnswer>;

const cancelUnits =
  (quantity: number): Act =>
  (id, productId) =>
    shop.act(customer, id, 'cancel', { body: { lines: [{ productId, quantity }] } });
const cancelOrder: Act = (id) => shop.act(customer, id, 'cancel');
const step =
  (name: string): Act =>
  (id) =>
    shop.act(shop.staff, id, name);

interface View {
  readonly status: string;
  readonly totalCost: number;
  readonly itemsSummary: readonly { readonly quantity: number; readonly cancelledQuantity?: number }[];
}

interface Figures {
  readonly id: string;
  readonly product: string;
  readonly status: string;
  readonly quantity: number;
  readonly shipped: number;
  readonly released: number;
  readonly state: string;
  readonly stock: number;
  readonly reserved: number;
  readonly allocated: number;
}

/**
 * Places orders of five units of a product of which ten are on hand, and runs the pair of actions concurrently on each
 * order.
 */
async function race(before: readonly string[], pair: readonly Act[], check: (statuses: number[]) => void) {
  const orders: { id: string; product: string }[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let n = next++; n < rounds; n = next++) {
        const product = await shop.product({ stock: 10, price: 3 });
        const id = String((await shop.order(customer, { [product]: 5 })).body.id);
        for (const action of before) await step(action)(id, product);
        const acts = n % 2 === 0 ? pair : [...pair].reverse();
        const answers = await Promise.all(acts.map((act) => act(id, product)));
        check((n % 2 === 0 ? answers : answers.reverse()).map(({ status }) => status));
        orders.push({ id, product });
      }
    }),
  );
  return orders;
}

/** Waits for the effects, and compares orders, reservations, ledger and products. */
async function accountFor(orders: readonly { id: string; product: string }[]): Promise<Figures[]> {
  const stock = shop.services.service('catalogue').database;
  return Promise.all(
    orders.map(async ({ id, product }) => {
      const { body } = await shop.view(customer, id);
      return eventually(async () => {
        const { rows } = await stock.query(
          `SELECT r.state, coalesce(l.quantity, 0) AS reserved_units, p.stock, p.reserved, p.allocated,
             coalesce((
               SELECT sum(quantity) FROM stock_ledger WHERE product_id = p.id AND kind = 'shipped'
             ), 0)::int AS shipped,
             coalesce((
               SELECT sum(quantity) FROM stock_ledger WHERE product_id = p.id AND kind = 'released'
             ), 0)::int AS released
           FROM products p JOIN stock_ledger b ON b.product_id = p.id AND b.kind = 'reserved'
           JOIN reservations r ON r.id = b.reservation_id
           LEFT JOIN reservation_lines l ON l.reservation_id = r.id AND l.product_id = p.id
           WHERE p.id = $1`,
          [product],
        );
        const [row] = rows;
        const { status, totalCost, itemsSummary } = body as unknown as View;
        const { quantity = 0, cancelledQuantity = 0 } = itemsSummary[0] ?? {};
        const isCancelled = status === 'cancelled';
        const isShipped = status === 'shipped';
        expect(quantity + cancelledQuantity).toBe(5);
        expect(totalCost).toBe(quantity * 3);
        expect({ ...row }).toEqual({
          state: isCancelled ? 'released' : isShipped ? 'shipped' : 'confirmed',
          reserved_units: row.reserved_units,
          stock: isShipped ? 10 - quantity : 10,
          reserved: isCancelled || isShipped ? 0 : quantity,
          allocated: 0,
          shipped: isShipped ? quantity : 0,
          released: isCancelled ? 5 : cancelledQuantity,
        });
        if (!isCancelled) expect(row.reserved_units).toBe(quantity);
        return { id, product, status, quantity, ...row };
      });
    }),
  );
}

const sorted = (statuses: readonly number[]): number[] => statuses.toSorted((a, b) => a - b);

describe(`of ${rounds} orders each`, () => {
  it('two cancellations of the same line never cancel more than it has', async () => {
    const check = (statuses: number[]) => expect(sorted(statuses)).toEqual([200, 409]);
    const figures = await accountFor(await race([], [cancelUnits(3), cancelUnits(4)], check));
    for (const { quantity } of figures) expect([1, 2]).toContain(quantity);
  });

  it('two concurrent cancellations that fit the order both succeed', async () => {
    const check = (statuses: number[]) => expect(statuses).toEqual([200, 200]);
    const figures = await accountFor(await race([], [cancelUnits(2), cancelUnits(2)], check));
    for (const { quantity } of figures) expect(quantity).toBe(1);
  });

  it('a cancellation of units and one of the order leave a cancelled order', async () => {
    const check = (statuses: number[]) => expect(statuses).toEqual([200, 200]);
    const figures = await accountFor(await race(['process'], [cancelUnits(2), cancelOrder], check));
    for (const { status } of figures) expect(status).toBe('cancelled');
  });

  it('a cancellation of units and the begin of processing are both done', async () => {
    const check = (statuses: number[]) => expect(statuses).toEqual([200, 200]);
    const figures = await accountFor(await race([], [cancelUnits(2), step('process')], check));
    for (const { status, quantity } of figures) expect([status, quantity]).toEqual(['processing', 3]);
  });

  it('a shipment has exactly the units that were not cancelled before it', async () => {
    const check = ([cancelled = 0, shipped = 0]: number[]) => {
      expect(shipped).toBe(200);
      expect([200, 409]).toContain(cancelled);
    };
    const figures = await accountFor(await race(['process'], [cancelUnits(2), step('ship')], check));
    for (const { status } of figures) expect(status).toBe('shipped');
  });
});

it('the ledger has no fault', async () => {
  const { faults } = await verifyStock({ DATABASE_URL: shop.services.database.urls.catalogue });
  expect(faults).toEqual([]);
});
