// Breaks the running shop in every way of the table while buyers shop, and then counts orders, stock, e-mails and answers.
// OUTAGE_SEED and OUTAGE_ROUNDS choose the schedule and how often the table is gone through.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { type Buyer, type Journal, registerBuyer, startShopping, untilClear } from './buyers.ts';
import { unrest, violations } from './checker.ts';
import { faults } from './faults.ts';
import { createRandom } from './random.ts';
import { type System, startSystem } from './system.ts';

const seed = Number(process.env.OUTAGE_SEED ?? 20_261_121);
const rounds = Number(process.env.OUTAGE_ROUNDS ?? 1);
const productCount = 12;
const stockEach = 100_000;

let system: System;
let buyers: Buyer[];
/** All rounds together: the checker counts everything that ever happened. */
const journal: Journal = { answers: [], orders: [] };
const initialStock = new Map<string, number>();

async function addProducts(count: number, stock: number): Promise<string[]> {
  const { rows } = await system.admin.query<{ id: string }>(
    `WITH made AS (
       INSERT INTO catalogue.products (id, name, brand, category, price_minor, status, stock)
       SELECT uuidv7(), 'Product ' || n, 'Brand', 'Category', 100 * n, 'active', $2 FROM generate_series(1, $1) AS n RETURNING id
     ), book AS (
       INSERT INTO catalogue.stock_ledger (product_id, kind, quantity, stock_after, promised_after)
       SELECT id, 'received', $2, $2, 0 FROM made WHERE $2 > 0
     )
     SELECT id FROM made ORDER BY id`,
    [count, stock],
  );
  for (const { id } of rows) initialStock.set(id, stock);
  return rows.map(({ id }) => id);
}

/** Waits for quiet, then holds everything against everything. */
async function expectSound(): Promise<void> {
  await eventually(async () => expect(await unrest(system.admin)).toEqual([]), 45_000);
  expect(await violations({ admin: system.admin, journal, mailFolder: system.mailFolder, initialStock })).toEqual([]);
}

beforeAll(async () => {
  system = await startSystem();
  buyers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => registerBuyer(system.gatewayUrl, `buyer-${seed}-${index}`)),
  );
}, 120_000);

afterAll(async () => {
  await system?.stop();
}, 60_000);

describe.each(Array.from({ length: rounds }, (_, round) => round + 1))('round %d', (round) => {
  it.each(faults.map((fault, index) => [fault.name, fault, index] as const))(
    '%s',
    async (_name, fault, index) => {
      const productIds = await addProducts(productCount, stockEach);
      const random = createRandom(seed + round * 1_000 + index);
      const shopping = startShopping({
        gatewayUrl: system.gatewayUrl,
        buyers,
        productIds,
        seed: seed + round * 1_000 + index,
      });
      let evidence: string | undefined;
      let mended: number;
      try {
        await new Promise((resolve) => setTimeout(resolve, random.integer(300, 800)));
        evidence = await fault.inject(system, random);
        mended = performance.now();
        await system.untilReady(10_000);
        await new Promise((resolve) => setTimeout(resolve, 700));
      } finally {
        await shopping.stop();
        journal.answers.push(...shopping.journal.answers);
        journal.orders.push(...shopping.journal.orders);
      }
      expect(evidence).toEqual(expect.any(String));
      expect(shopping.journal.orders.some(({ orderId }) => orderId !== undefined)).toBe(true);
      // Ten seconds after the end of the fault everything is well again, without help.
      const late = shopping.journal.answers.filter(
        ({ at, status }) => at > mended + 10_000 && (status === 0 || status >= 500),
      );
      expect(late).toEqual([]);
      await expectSound();
    },
    150_000,
  );
});

describe('contention', () => {
  it('sells the last unit once to two hundred buyers', async () => {
    const [productId = ''] = await addProducts(1, 1);
    const local: Journal = { answers: [], orders: [] };
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const buyer = buyers[index % buyers.length];
        if (buyer === undefined) return;
        const outcome = {
          key: `last-${seed}-${index}`,
          accountId: buyer.accountId,
          lines: [{ productId, quantity: 1 }],
        };
        const answer = await untilClear(local, 'order', `${system.gatewayUrl}/v1/orders`, {
          token: buyer.token,
          key: outcome.key,
          body: { items: outcome.lines },
        });
        local.orders.push(
          answer.status === 201
            ? { ...outcome, orderId: (JSON.parse(answer.body) as { id: string }).id }
            : { ...outcome, refused: answer.status },
        );
      }),
    );
    journal.answers.push(...local.answers);
    journal.orders.push(...local.orders);
    expect(local.orders.filter(({ orderId }) => orderId !== undefined)).toHaveLength(1);
    expect(new Set(local.orders.map(({ refused }) => refused))).toEqual(new Set([undefined, 409]));
    await expectSound();
  }, 120_000);
});
