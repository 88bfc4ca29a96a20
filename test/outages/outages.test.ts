// Breaks the running shop in every way of the table while buyers shop, and then counts orders, stock, e-mails and answers.
// OUTAGE_SEED and OUTAGE_ROUNDS choose the schedule and how often the table is gone through.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { type Buyer, type Journal, type OrderOutcome, registerBuyer, startShopping, untilClear } from './buyers.ts';
import { unrest, violations } from './checker.ts';
import { deadLetterCounts, faults } from './faults.ts';
import { createRandom } from './random.ts';
import { type System, startSystem } from './system.ts';

const seed = Number(process.env.OUTAGE_SEED ?? 20_261_121);
const rounds = Number(process.env.OUTAGE_ROUNDS ?? 1);
const productCount = 12;
const stockEach = 100_000;
/** Milliseconds after the end of a fault within which everything is well again, without help. */
const usualRecovery = 10_000;

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
  // The broker's figures are some seconds old.
  await eventually(async () => expect(await deadLetterCounts(system)).toEqual([]), 20_000);
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
        await system.untilReady(fault.recovery ?? usualRecovery);
        await new Promise((resolve) => setTimeout(resolve, 700));
      } finally {
        await shopping.stop();
        journal.answers.push(...shopping.journal.answers);
        journal.orders.push(...shopping.journal.orders);
      }
      expect(evidence).toEqual(expect.any(String));
      expect(shopping.journal.orders.some(({ orderId }) => orderId !== undefined)).toBe(true);
      const late = shopping.journal.answers.filter(
        ({ at, status }) => at > mended + (fault.recovery ?? usualRecovery) && (status === 0 || status >= 500),
      );
      expect(late).toEqual([]);
      await expectSound();
    },
    150_000,
  );
});

/** Runs the work of `count` buyers, `atOnce` at a time, and adds what they saw to the journal. */
async function inFlight(
  count: number,
  atOnce: number,
  work: (index: number, local: Journal) => Promise<void>,
): Promise<Journal> {
  const local: Journal = { answers: [], orders: [] };
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await work(next++, local);
    }),
  );
  journal.answers.push(...local.answers);
  journal.orders.push(...local.orders);
  return local;
}

async function order(local: Journal, index: number, name: string, lines: OrderOutcome['lines']): Promise<OrderOutcome> {
  const buyer = buyers[index % buyers.length];
  if (buyer === undefined) throw new Error('there are no buyers');
  const outcome: OrderOutcome = { key: `${name}-${seed}-${index}`, accountId: buyer.accountId, lines };
  const request = { token: buyer.token, key: outcome.key, body: { items: lines } };
  const answer = await untilClear(local, 'order', `${system.gatewayUrl}/v1/orders`, request);
  if (answer.status === 201) outcome.orderId = (JSON.parse(answer.body) as { id: string }).id;
  else outcome.refused = answer.status;
  local.orders.push(outcome);
  return outcome;
}

/** Nothing is broken in these rounds, so nothing may be answered as if it were. */
const failures = ({ answers }: Journal) => answers.filter(({ status }) => status === 0 || status >= 500);

describe('contention', () => {
  it('sells the last unit once to two hundred buyers', async () => {
    const [productId = ''] = await addProducts(1, 1);
    const local = await inFlight(200, 200, async (index, into) => {
      await order(into, index, 'last', [{ productId, quantity: 1 }]);
    });
    expect(local.orders.filter(({ orderId }) => orderId !== undefined)).toHaveLength(1);
    expect(new Set(local.orders.map(({ refused }) => refused))).toEqual(new Set([undefined, 409]));
    expect(failures(local)).toEqual([]);
    await expectSound();
  }, 120_000);

  it('takes two-line orders in opposite order without a deadlock that anybody sees', async () => {
    const [a = '', b = ''] = await addProducts(2, stockEach);
    const local = await inFlight(300, 16, async (index, into) => {
      const lines = [a, b].map((productId) => ({ productId, quantity: 1 }));
      await order(into, index, 'opposite', index % 2 === 0 ? lines : lines.reverse());
    });
    expect(local.orders.filter(({ orderId }) => orderId === undefined)).toEqual([]);
    expect(failures(local)).toEqual([]);
    await expectSound();
  }, 120_000);

  it('lets either the cancellation or the shipment win, a thousand times', async () => {
    const [productId = ''] = await addProducts(1, stockEach);
    const staff = await system.staff('orders:fulfil');
    const outcomes: string[] = [];
    const local = await inFlight(1_000, 8, async (index, into) => {
      const outcome = await order(into, index, 'race', [{ productId, quantity: 1 }]);
      const act = (action: string, token: string) =>
        untilClear(
          into,
          action === 'cancel' ? 'cancel' : 'ship',
          `${system.gatewayUrl}/v1/orders/${outcome.orderId}/${action}`,
          {
            token,
            key: `${outcome.key}-${action}`,
          },
        );
      await act('process', staff.token);
      const [cancelled, shipped] = await Promise.all([
        act('cancel', buyers[index % buyers.length]?.token ?? ''),
        act('ship', staff.token),
      ]);
      outcome.cancelled = cancelled.status;
      outcomes.push([cancelled.status, shipped.status].join(' '));
    });
    expect(outcomes.filter((outcome) => outcome !== '200 409' && outcome !== '409 200')).toEqual([]);
    expect(new Set(outcomes).size).toBe(2);
    expect(failures(local)).toEqual([]);
    await expectSound();
  }, 480_000);
});
