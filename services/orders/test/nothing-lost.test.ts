// Many concurrent customers, and processes that die: no order is lost or duplicated, no unit is lost or sold twice.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, plainEnvironment, type TestAnswer } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop({ environment: { RESERVATION_SECONDS: '1' } });
});
afterAll(() => shop.stop());
beforeEach(async () => {
  customer = await shop.customer();
});

interface Held {
  readonly orders: number;
  readonly units: number;
}

/** Returns how many orders the customer has, and the units of a product in those that are not cancelled. */
async function held(productId: string): Promise<Held> {
  const { database } = shop.services.service('orders');
  const { rows } = await database.query<Held>(
    `SELECT count(DISTINCT id)::int AS orders,
       coalesce(sum(quantity) FILTER (WHERE status <> 'cancelled'), 0)::int AS units
     FROM orders JOIN order_lines ON order_id = id AND order_lines.account_id = orders.account_id
     WHERE product_id = $1`,
    [productId],
  );
  return rows[0] ?? { orders: 0, units: 0 };
}

/** Waits until every reservation is released or has an order. */
async function quiet(productIds: readonly string[]): Promise<void> {
  const { database } = shop.services.service('catalogue');
  await eventually(async () => {
    const { rows } = await database.query(
      `SELECT id FROM reservations JOIN reservation_lines ON reservation_id = id
       WHERE state = 'held' AND product_id = ANY ($1::uuid[])`,
      [productIds],
    );
    expect(rows).toEqual([]);
  }, 15_000);
}

it('the shop sells the last unit to one of 200 buyers', async () => {
  const product = await shop.product({ stock: 1 });
  const buyers = await Promise.all(Array.from({ length: 200 }, () => shop.customer()));
  const answers: TestAnswer[] = [];
  // Sixteen clients run concurrently. Each handles the next buyer when it has finished one.
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let buyer = buyers.pop(); buyer !== undefined; buyer = buyers.pop()) {
        answers.push(await shop.order(buyer, { [product]: 1 }));
      }
    }),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ body }) => body.code === 'insufficient-stock')).toHaveLength(199);
  expect(await shop.stockOf(product)).toEqual({ stock: 1, reserved: 1, oversold: 0 });
  expect(await held(product)).toEqual({ orders: 1, units: 1 });
});

it('the shop accepts concurrent orders that name two products in opposite order', async () => {
  const [a, b] = [await shop.product({ stock: 500 }), await shop.product({ stock: 500 })];
  const answers: TestAnswer[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      // The orders of one account wait for each other before they lock products.
      const buyer = await shop.customer();
      for (let n = 0; n < 10; n += 1) {
        answers.push(await shop.order(buyer, worker % 2 ? { [a]: 1, [b]: 2 } : { [b]: 2, [a]: 1 }));
      }
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(await shop.stockOf(a)).toMatchObject({ reserved: 80 });
  expect(await shop.stockOf(b)).toMatchObject({ reserved: 160 });
});

it.each(['orders', 'catalogue'] as const)('the shop loses nothing when %s is killed repeatedly', async (victim) => {
  const product = await shop.product({ stock: 60 });
  const service = shop.services.service(victim);
  let killing = true;
  const killer = (async () => {
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 150 + round * 70));
      await service.kill('SIGKILL');
      await service.restart();
    }
    killing = false;
  })();
  const outcomes: string[] = [];
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      while (killing || outcomes.length < 30) outcomes.push(await untilAnswered(product));
    }),
  );
  await killer;
  await quiet([product]);
  const made = outcomes.filter((outcome) => outcome !== 'refused');
  expect(new Set(made).size).toBe(made.length);
  const { orders, units } = await held(product);
  expect(orders).toBe(made.length);
  expect(await shop.stockOf(product)).toEqual({ stock: 60, reserved: units, oversold: 0 });
});

/**
 * Orders one unit, and repeats the request with its key until a reply arrives. Returns the order's id, or `refused`
 * when the product is sold out.
 */
async function untilAnswered(product: string): Promise<string> {
  const headers = { 'Idempotency-Key': newId() };
  for (;;) {
    const answer = await shop.order(customer, { [product]: 1 }, { headers }).catch(() => undefined);
    if (answer?.status === 201) return answer.body.id;
    if (answer?.body.code === 'insufficient-stock') return 'refused';
    if (answer !== undefined) expect(['service-unavailable', 'request-in-progress']).toContain(answer.body.code);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

it('the shop leaves a stock ledger without faults', async () => {
  const program = `
    const { verifyStock } = await import('@shop/catalogue/operator');
    process.stdout.write(JSON.stringify(await verifyStock(process.env)));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...plainEnvironment(), DATABASE_URL: shop.services.database.urls.catalogue },
  });
  expect(JSON.parse(stdout)).toMatchObject({ faults: [] });
});
