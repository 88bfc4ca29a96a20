// Injects every fault of the table into the running shop while buyers shop, and then counts orders, stock, e-mails and
// replies. OUTAGE_SEED sets the schedule, OUTAGE_ROUNDS the number of rounds through the table, and OUTAGE_PATIENCE the
// seconds in which all work must end. Prints the effect of each fault and the time of the recovery.
import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { slowness } from '@shop/shared/testing';
import type { Interruption } from './answers.ts';
import { answerViolations } from './answers.ts';
import { movesOf } from './archive.ts';
import { payOrder, placeOrder, startShopping } from './buyers.ts';
import { violations } from './checker.ts';
import { countRows, pause, seen } from './fault.ts';
import { faults } from './faults.ts';
import { isFailure, type Journal, type OrderOutcome, untilClear } from './journal.ts';
import { createRandom } from './random.ts';
import { type System, startSystem } from './system.ts';
import { unrest } from './unrest.ts';

const seed = Number(process.env.OUTAGE_SEED ?? 20_261_121);
const rounds = Number(process.env.OUTAGE_ROUNDS ?? 1);
const productCount = 12;
const stockEach = 100_000;
/**
 * Milliseconds after the end of a fault within which the shop recovers by itself, on the machine that pace.ts names.
 */
const promised = 10_000;
/** Milliseconds after which the test no longer waits for the end of all work. */
const patience = Number(process.env.OUTAGE_PATIENCE ?? 120) * 1_000;

let system: System;
/** The records of all rounds, because the checker counts everything since the start. */
const journal: Journal = { answers: [], orders: [], accounts: [] };
const initialStock = new Map<string, number>();

async function addProducts(count: number, stock: number): Promise<string[]> {
  const { rows } = await system.admin.query<{ id: string }>(
    `WITH made AS (
       INSERT INTO catalogue.products (id, name, brand, category, price_minor, status, stock)
       SELECT uuidv7(), 'Product ' || n, 'Brand', 'Category', 100 * n, 'active', $2
         FROM generate_series(1, $1) AS n RETURNING id
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

/** Waits until no work is in progress, then runs all checks. */
async function expectSound(): Promise<void> {
  const deadline = performance.now() + patience;
  // The database and the broker must be available, too.
  const look = (): Promise<string[]> => unrest(system).catch((error: unknown) => [String(error)]);
  let moving = await look();
  while (moving.length > 0 && performance.now() < deadline) {
    await pause(250);
    moving = await look();
  }
  if (moving.length > 0) writeSync(1, `no quiet: ${moving.join(', ')}\n`);
  expect(moving).toEqual([]);
  expect(await violations(system, journal, initialStock)).toEqual([]);
}

function keep(local: Journal): void {
  journal.answers.push(...local.answers);
  journal.orders.push(...local.orders);
  journal.accounts.push(...local.accounts);
}

beforeAll(async () => {
  system = await startSystem({ seed, buyers: 6, journal });
}, 300_000);

afterAll(async () => {
  await system?.stop();
}, 120_000);

describe.each(Array.from({ length: rounds }, (_, round) => round + 1))('round %d', (round) => {
  it.each(faults.map((fault, index) => [fault.name, fault, index] as const))(
    '%s',
    async (name, fault, index) => {
      const productIds = await addProducts(productCount, stockEach);
      const random = createRandom(seed + round * 1_000 + index);
      const paceBefore = slowness();
      const { gatewayUrl, buyers, payer } = system;
      const shopping = startShopping({ gatewayUrl, buyers, payer, productIds, seed: seed + round * 1_000 + index });
      const before = await movesOf(system.admin);
      let evidence: string | undefined;
      let [from, mended, ready] = [0, 0, 0];
      try {
        await pause(random.integer(300, 800));
        from = performance.now();
        evidence = await fault.inject({ system, random, productIds, journal: shopping.journal });
        mended = performance.now();
        await system.untilReady(patience);
        ready = performance.now();
        await pause(700);
      } finally {
        await shopping.stop();
        keep(shopping.journal);
      }
      if (evidence === undefined) writeSync(1, `${name}: was not seen to happen\n`);
      expect(evidence).toEqual(expect.any(String));
      expect(shopping.journal.orders.some(({ orderId }) => orderId !== undefined)).toBe(true);
      await expectSound();
      const moves = await movesOf(system.admin);
      const [archived, restored] = [moves.archived - before.archived, moves.restored - before.restored];
      expect(archived).toBeGreaterThan(0);
      await fault.mend?.(system);

      const pace = Math.max(paceBefore, slowness());
      const allowed = (fault.recovery ?? promised) * pace;
      const lastFailure = shopping.journal.answers.findLast(isFailure)?.at ?? mended;
      const well = Math.max(ready, lastFailure) - mended;
      writeSync(
        1,
        `${name}: ${evidence}; ${archived} orders archived, ${restored} restored; ` +
          `well after ${inSeconds(well)} of ${inSeconds(allowed)} s (pace ${pace.toFixed(1)})\n`,
      );
      const interruption: Interruption = { interrupts: fault.interrupts, from, until: mended + allowed };
      expect(answerViolations(shopping.journal.answers, interruption)).toEqual([]);
      expect(well).toBeLessThanOrEqual(allowed);
    },
    600_000,
  );
});

const inSeconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);

/** Runs `count` buyers, `atOnce` at a time, and records their replies in the journal. No fault is active meanwhile. */
async function inFlight(
  count: number,
  atOnce: number,
  work: (index: number, local: Journal) => Promise<void>,
): Promise<Journal> {
  const local: Journal = { answers: [], orders: [], accounts: [] };
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await work(next++, local);
    }),
  );
  keep(local);
  expect(answerViolations(local.answers, { interrupts: 'nothing', from: 0, until: 0 })).toEqual([]);
  return local;
}

async function order(local: Journal, index: number, name: string, lines: OrderOutcome['lines']): Promise<OrderOutcome> {
  const buyer = buyerOf(index);
  const outcome: OrderOutcome = { key: `${name}-${seed}-${index}`, accountId: buyer.accountId, lines };
  await placeOrder(local, system.gatewayUrl, buyer.token, outcome);
  local.orders.push(outcome);
  return outcome;
}

function buyerOf(index: number) {
  const buyer = system.buyers[index % system.buyers.length];
  if (buyer === undefined) throw new Error('there are no buyers');
  return buyer;
}

describe('contention', () => {
  it('sells the last unit once to two hundred buyers', async () => {
    const [productId = ''] = await addProducts(1, 1);
    const local = await inFlight(200, 32, async (index, into) => {
      await order(into, index, 'last', [{ productId, quantity: 1 }]);
    });
    expect(local.orders.filter(({ orderId }) => orderId !== undefined)).toHaveLength(1);
    expect(new Set(local.orders.map(({ refused }) => refused))).toEqual(new Set([undefined, 409]));
    await expectSound();
  }, 300_000);

  it('takes two-line orders in opposite order without a deadlock', async () => {
    const [a = '', b = ''] = await addProducts(2, stockEach);
    const before = await system.deadlocks();
    const local = await inFlight(300, 16, async (index, into) => {
      if ((await system.deadlocks()) > before) return; // one is enough, and each costs everybody a second
      const lines = [a, b].map((productId) => ({ productId, quantity: 1 }));
      await order(into, index, 'opposite', index % 2 === 0 ? lines : lines.reverse());
    });
    expect(local.orders.filter(({ orderId }) => orderId === undefined)).toEqual([]);
    expect(`${(await system.deadlocks()) - before} deadlocks`).toBe('0 deadlocks');
    await expectSound();
  }, 300_000);

  it('lets either the cancellation or the shipment win, a thousand times', async () => {
    const [productId = ''] = await addProducts(1, stockEach);
    const staff = await system.buyer(`staff-${seed}`, 'orders:fulfil');
    const outcomes: string[] = [];
    await inFlight(1_000, 8, async (index, into) => {
      const outcome = await order(into, index, 'race', [{ productId, quantity: 1 }]);
      const act = (action: 'process' | 'cancel' | 'ship' | 'deliver', token: string) =>
        untilClear(
          into,
          action === 'cancel' ? 'cancel' : 'ship',
          `${system.gatewayUrl}/v1/orders/${outcome.orderId}/${action}`,
          {
            token,
            key: `${outcome.key}-${action}`,
          },
        );
      await payOrder(into, system.gatewayUrl, system.payer, outcome);
      await act('process', staff.token);
      // Each of the two starts some milliseconds before the other one in a part of the rounds, so that both win some.
      const lead = (index % 9) - 4;
      const [cancelled, shipped] = await Promise.all([
        pause(Math.max(lead, 0)).then(() => act('cancel', buyerOf(index).token)),
        pause(Math.max(-lead, 0)).then(() => act('ship', staff.token)),
      ]);
      outcome.cancelled = cancelled.status;
      outcomes.push([cancelled.status, shipped.status].join(' '));
      if (shipped.status === 200) await act('deliver', staff.token);
    });
    expect(outcomes.filter((outcome) => outcome !== '200 409' && outcome !== '409 200')).toEqual([]);
    expect(new Set(outcomes).size).toBe(2);
    await expectSound();
    const delivered = outcomes.filter((outcome) => outcome === '409 200').length;
    expect(
      await seen(async () => (await countRows(system, "archived_orders WHERE status = 'delivered'")) === delivered),
    ).toBe(true);
    expect(await violations(system, journal, initialStock)).toEqual([]);
  }, 900_000);
});

describe('erasure', () => {
  it('leaves nothing of ten customers while processes of every service die', async () => {
    const [productId = ''] = await addProducts(1, stockEach);
    const mark = `Vanishinglane${seed}`;
    const customers = await Promise.all(Array.from({ length: 10 }, (_, index) => system.buyer(`${mark}-${index}`)));
    const ids = customers.map(({ accountId }) => accountId);
    await inFlight(customers.length, 5, async (index, into) => {
      const customer = customers[index];
      if (customer === undefined) return;
      const body = { items: [{ productId, quantity: 1 }], shipping_address: { street_address: mark, country: 'CH' } };
      const key = `erased-${seed}-${index}`;
      const { token, accountId } = customer;
      const answer = await untilClear(into, 'order', `${system.gatewayUrl}/v1/orders`, { token, key, body });
      const { id: orderId, totalCost: total } = JSON.parse(answer.body) as { id: string; totalCost: number };
      const outcome: OrderOutcome = { key, accountId, lines: body.items, orderId, total };
      into.orders.push(outcome);
      if (index % 2 === 0) return payOrder(into, system.gatewayUrl, system.payer, outcome);
      const path = `${system.gatewayUrl}/v1/orders/${orderId}/cancel`;
      outcome.cancelled = (await untilClear(into, 'cancel', path, { token, key: `${key}-cancel` })).status;
    });
    await expectSound();
    const archived = `archived_orders WHERE account_id IN (${ids.map((id) => `'${id}'`).join()})`;
    expect(await seen(async () => (await countRows(system, archived)) === customers.length / 2)).toBe(true);
    await system.admin.query(
      "UPDATE accounts.accounts SET erase_at = now() - interval '2 hours' WHERE id = ANY ($1::uuid[])",
      [ids],
    );
    const random = createRandom(seed);
    for (let count = 0; count < 12; count += 1) {
      random.pick(system.services()).kill('SIGKILL');
      await pause(random.integer(500, 2_000));
    }
    await system.untilReady(patience);
    // The checker compares the customers' records with accounts, which does not know these accounts any more.
    journal.accounts.splice(0, Infinity, ...journal.accounts.filter(({ accountId }) => !ids.includes(accountId)));
    const deadline = performance.now() + patience;
    let left = await tracesOf(mark, ids);
    while (left.length > 0 && performance.now() < deadline) {
      await pause(1_000);
      left = await tracesOf(mark, ids);
    }
    expect(left).toEqual([]);
    await expectSound();
  }, 600_000);
});

/** Returns the tables with rows that contain the mark, and the erased accounts that still have a sweep to come. */
async function tracesOf(mark: string, ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const { rows: tables } = await system.admin.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('accounts', 'orders', 'catalogue', 'notifications')`,
  );
  for (const { name } of tables) {
    const { rows } = await system.admin.query<{ rows: number }>(
      `SELECT count(*)::int AS rows FROM ${name} AS t WHERE t::text ILIKE $1`,
      [`%${mark}%`],
    );
    if (rows[0]?.rows !== 0) found.push(`${name}: ${rows[0]?.rows} rows`);
  }
  for (const schema of ['accounts', 'orders', 'notifications']) {
    const { rows } = await system.admin.query<{ swept: number }>(
      `SELECT count(*)::int AS swept FROM ${schema}.erased_accounts WHERE account_id = ANY ($1::uuid[]) AND sweeps > 0`,
      [ids],
    );
    if (rows[0]?.swept !== ids.length) found.push(`${schema}: ${rows[0]?.swept} of ${ids.length} accounts are swept`);
  }
  return found;
}
