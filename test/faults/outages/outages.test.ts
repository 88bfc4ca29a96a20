// Injects every fault of the table into the running shop while buyers shop, and then counts orders, stock, e-mails and
// replies. OUTAGE_SEED sets the schedule, OUTAGE_ROUNDS the number of rounds through the table, and OUTAGE_PATIENCE the
// seconds in which all work must end. Prints the effect of each fault and the time of the recovery.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProblemCode } from '@shop/shared/problem';
import { serviceNames } from '@shop/shared/shop';
import { answerViolations, noInterruption } from './answers.ts';
import { payOrder, placeOrder } from './buyers.ts';
import type { CrashPoint } from './crash-points.ts';
import { countRows, pause } from './fault.ts';
import { faults } from './faults.ts';
import { type Asked, type Journal, type OrderOutcome, untilClear } from './journal.ts';
import { openSale } from './prices.ts';
import { createRandom } from './random.ts';
import { Rounds, stockEach } from './rounds.ts';
import { type System, startSystem } from './system.ts';

const seed = Number(process.env.OUTAGE_SEED ?? 20_261_121);
const times = Number(process.env.OUTAGE_ROUNDS ?? 1);
/** Milliseconds after which the test no longer waits for the end of all work. */
const patience = Number(process.env.OUTAGE_PATIENCE ?? 120) * 1_000;

let system: System;
let rounds: Rounds<System>;
const journal: Journal = { answers: [], orders: [], accounts: [] };

beforeAll(async () => {
  system = await startSystem({ seed, buyers: 6, journal });
  rounds = new Rounds({ system, journal, patience });
});

afterAll(async () => {
  await system?.stop();
}, 120_000);

describe.each(Array.from({ length: times }, (_, time) => time + 1))('round %d', (time) => {
  it.each(faults.map((fault, index) => [fault.name, fault, index] as const))(
    '%s',
    async (_, fault, index) => {
      const round = await rounds.run(fault, seed + time * 1_000 + index);
      expect(round).toMatchObject({ evidence: expect.any(String), violations: [] });
    },
    600_000,
  );
});

/** Runs `count` buyers, `atOnce` at a time, and records their replies in the journal. No fault is active meanwhile. */
async function inFlight(
  count: number,
  atOnce: number,
  work: (index: number, local: Journal) => Promise<void>,
  refusals: readonly ProblemCode[] = [],
): Promise<Journal> {
  const local: Journal = { answers: [], orders: [], accounts: [] };
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await work(next++, local);
    }),
  );
  rounds.keep(local);
  expect(answerViolations(local.answers, noInterruption, refusals)).toEqual([]);
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
  it('the shop sells the last unit once to two hundred buyers', async () => {
    const [productId = ''] = await rounds.addProducts(1, 1);
    const local = await inFlight(
      200,
      32,
      async (index, into) => {
        await order(into, index, 'last', [{ productId, quantity: 1 }]);
      },
      ['insufficient-stock'],
    );
    expect(local.orders.filter(({ orderId }) => orderId !== undefined)).toHaveLength(1);
    expect(new Set(local.orders.map(({ refused }) => refused))).toEqual(new Set([undefined, 409]));
    expect(await rounds.violationsAtRest()).toEqual([]);
  });

  it('the shop takes two-line orders in opposite order without a deadlock', async () => {
    const [a = '', b = ''] = await rounds.addProducts(2, stockEach);
    const before = await system.deadlocks();
    const local = await inFlight(300, 16, async (index, into) => {
      if ((await system.deadlocks()) > before) return; // one is enough, and each costs everybody a second
      const lines = [a, b].map((productId) => ({ productId, quantity: 1 }));
      await order(into, index, 'opposite', index % 2 === 0 ? lines : lines.reverse());
    });
    expect(local.orders.filter(({ orderId }) => orderId === undefined)).toEqual([]);
    expect(`${(await system.deadlocks()) - before} deadlocks`).toBe('0 deadlocks');
    expect(await rounds.violationsAtRest()).toEqual([]);
  });

  it('the shop lets either the cancellation or the shipment win, a thousand times', async () => {
    const [productId = ''] = await rounds.addProducts(1, stockEach);
    const { staff } = system;
    // Each cancellation gives back a use that others wait for.
    await openSale(system.gatewayUrl, staff, [productId], `race-${seed}`);
    const outcomes: string[] = [];
    const race = async (index: number, into: Journal): Promise<void> => {
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
      // Each of the two starts up to 32 ms before the other one in a part of the rounds, so that both win some.
      const lead = ((index % 9) - 4) * 8;
      const [cancelled, shipped] = await Promise.all([
        pause(Math.max(lead, 0)).then(() => act('cancel', buyerOf(index).token)),
        pause(Math.max(-lead, 0)).then(() => act('ship', staff.token)),
      ]);
      outcome.cancelled = cancelled.status;
      outcome.shipped = shipped.status;
      outcomes.push([cancelled.status, shipped.status].join(' '));
      if (shipped.status === 200) await act('deliver', staff.token);
    };
    await inFlight(1_000, 8, race, ['order-already-shipped', 'invalid-transition']);
    expect(outcomes.filter((outcome) => outcome !== '200 409' && outcome !== '409 200')).toEqual([]);
    expect(new Set(outcomes).size).toBe(2);
    expect(await rounds.violationsAtRest()).toEqual([]);
    const delivered = outcomes.filter((outcome) => outcome === '409 200').length;
    const ofProduct = `EXISTS (SELECT FROM order_lines AS line WHERE order_id = id AND product_id = '${productId}')`;
    expect(await countRows(system, `orders WHERE status = 'delivered' AND ${ofProduct}`)).toBe(delivered);
  }, 900_000);
});

describe('lost answers', () => {
  it.each<CrashPoint>(['before COMMIT', 'after COMMIT before the answer'])(
    'a shipment and a received return take effect once when the processes die %s',
    async (point) => {
      const [productId = ''] = await rounds.addProducts(1, stockEach);
      const local = await inFlight(1, 1, async (index, into) => {
        const outcome = await order(into, index, `lost ${point}`, [{ productId, quantity: 2 }]);
        await payOrder(into, system.gatewayUrl, system.payer, outcome);
      });
      const [outcome] = local.orders;
      if (outcome === undefined) throw new Error('there is no order');
      const lost: Journal = { answers: [], orders: [], accounts: [] };
      const from = performance.now();
      const { token } = system.staff;
      const act = (asked: Asked, path: string, body?: object) =>
        untilClear(lost, asked, `${system.gatewayUrl}/v1/${path}`, {
          token,
          key: `${point} ${path}`,
          ...(body && { body }),
        });
      /** The request ends a process, and is then repeated with the same key. */
      const actAndDie = async (asked: Asked, path: string, body?: object) => {
        const deaths = () => system.processes('orders').reduce((sum, process) => sum + process.deaths(), 0);
        const before = deaths();
        for (const process of system.processes('orders')) process.crashAt(point);
        const answer = await act(asked, path, body);
        expect(deaths()).toBeGreaterThan(before);
        expect(answer).toMatchObject({ status: 200, body: expect.any(String), replayed: point !== 'before COMMIT' });
        expect(await act(asked, path, body)).toMatchObject({ status: 200, replayed: true, body: answer.body });
      };
      expect(await act('ship', `orders/${outcome.orderId}/process`)).toMatchObject({ status: 200 });
      await actAndDie('ship', `orders/${outcome.orderId}/ship`);
      outcome.shipped = 200;
      const wanted = { lines: [{ productId, quantity: 2, reason: 'other' }] };
      const { body } = await act('return', `orders/${outcome.orderId}/returns`, wanted);
      const { id } = JSON.parse(body) as { id: string };
      const lines = [{ productId, quantity: 1, restock: true }];
      await actAndDie('return', `returns/${id}/receive`, { lines });
      const units = [{ productId, quantity: 2, received: 1, restock: true }];
      outcome.returns = [{ id, status: 'received', lines: units }];
      // The process that was not asked is not to die later.
      for (const process of system.processes('orders')) process.kill('SIGKILL');
      await system.untilReady(patience);
      const interruption = { interrupts: 'service', from, until: performance.now() } as const;
      expect(answerViolations(lost.answers, interruption)).toEqual([]);
      expect(await rounds.violationsAtRest()).toEqual([]);
    },
  );
});

describe('erasure', () => {
  it('the erasure leaves nothing of ten customers while processes of every service die', async () => {
    const [productId = ''] = await rounds.addProducts(1, stockEach);
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
    expect(await rounds.violationsAtRest()).toEqual([]);
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
    expect(await rounds.violationsAtRest()).toEqual([]);
  }, 600_000);
});

/** Returns the tables with rows that contain the mark, and the erased accounts that still have a sweep to come. */
async function tracesOf(mark: string, ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const { rows: tables } = await system.admin.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = ANY ($1)`,
    [serviceNames],
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
