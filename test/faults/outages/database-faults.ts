// PostgreSQL is restarted, its connections are ended, cut or exhausted, or its replies are late.
import { randomUUID } from 'node:crypto';
import { serviceNames } from '@shop/shared/shop';
import { placeOrder } from './buyers.ts';
import { type Fault, pause, type Scene, seen } from './fault.ts';
import type { OrderOutcome } from './journal.ts';
import type { System } from './system.ts';

/** Connections that one process of orders opens. */
const poolSize = 10;

export const databaseFaults: readonly Fault<System>[] = [
  {
    name: 'PostgreSQL is restarted',
    interrupts: 'database',
    async inject({ system }) {
      const startedAt = async () =>
        (await system.admin.query<{ at: string }>('SELECT pg_postmaster_start_time()::text AS at')).rows[0]?.at;
      const before = await startedAt();
      await system.restartPostgres(1_000);
      const after = await startedAt();
      return before !== after ? `started at ${before}, and again at ${after}` : undefined;
    },
  },
  {
    name: 'all database connections are terminated',
    interrupts: 'database',
    async inject({ system }) {
      let ended = 0;
      for (let time = 0; time < 5; time += 1) {
        const { rowCount } = await system.admin.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ANY ($1)',
          [serviceNames],
        );
        ended += rowCount ?? 0;
        await pause(300);
      }
      return ended > 0 ? `${ended} connections were terminated` : undefined;
    },
  },
  {
    name: 'the database connection is cut between COMMIT and its answer',
    interrupts: 'database',
    async inject({ system, journal }) {
      // Only a committed request stores a reply that can be replayed. Some of the interrupted COMMITs are those of
      // handlers.
      const replays = () => journal.answers.filter(({ replayed }) => replayed).length;
      const before = { cuts: system.databaseProxy.cuts(), replays: replays() };
      for (let time = 1; time <= 30 && (time <= 4 || replays() === before.replays); time += 1) {
        system.databaseProxy.cutAnswerTo('COMMIT', 'user\0orders\0');
        await seen(() => system.databaseProxy.cuts() >= before.cuts + time);
        await pause(200);
      }
      const cuts = system.databaseProxy.cuts() - before.cuts;
      await seen(() => replays() > before.replays);
      const again = replays() - before.replays;
      return again > 0 ? `${cuts} connections were cut, ${again} answers were given again` : undefined;
    },
  },
  {
    name: 'the database hangs',
    interrupts: 'database',
    async inject({ system, journal }) {
      const began = performance.now();
      system.databaseProxy.hang();
      await pause(4_000);
      // Pages of products are answered from memory.
      const changes = journal.answers.filter(({ at, status, asked }) => at > began && status < 300 && asked !== 'view');
      system.databaseProxy.pass();
      return changes.length === 0 ? 'nothing was changed for 4 s' : undefined;
    },
  },
  {
    name: 'the database is read-only',
    interrupts: 'database',
    async inject({ system, journal }) {
      const began = performance.now();
      const since = await serverTime(system);
      const notReady = await whileReadOnly(system, async () => {
        const ready = await Promise.all(
          system.services().map(({ url }) => seen(async () => (await fetch(`${url}/health/ready`)).status === 503)),
        );
        await pause(6_000);
        return ready.every(Boolean);
      });
      const refused = await seen(() => journal.answers.some(({ at, status }) => at > began && status === 503), 0);
      const events = await deliveriesSince(system, since);
      if (!notReady) throw new Error('a service was ready while its database was read-only');
      if (events.longest > 1) throw new Error(`an event took effect at attempt ${events.longest}`);
      if (!refused || events.taken === 0) return undefined;
      return `no service was ready, and ${events.taken} events were taken later, each at its first attempt`;
    },
  },
  {
    name: 'the connections of orders are all in use',
    interrupts: 'database',
    async inject(scene) {
      const { system, journal } = scene;
      const client = await system.admin.connect();
      const crowd: Promise<void>[] = [];
      let most = 0;
      const began = performance.now();
      try {
        await client.query('BEGIN');
        await client.query('LOCK TABLE orders.orders IN ACCESS EXCLUSIVE MODE');
        for (let index = 0; index < 6 * poolSize; index += 1) crowd.push(orderOnce(scene));
        const exhausted = await seen(async () => {
          const { rows } = await system.admin.query<{ waiting: number }>(
            'SELECT count(*)::int AS waiting FROM pg_stat_activity ' +
              "WHERE usename = 'orders' AND wait_event_type = 'Lock'",
          );
          most = Math.max(most, rows[0]?.waiting ?? 0);
          return most >= poolSize;
        }, 15_000);
        // Requests that get no connection are answered with 503.
        const refused = await seen(
          () => journal.answers.some(({ at, status }) => at > began && status === 503),
          15_000,
        );
        if (!exhausted || !refused) return undefined;
      } finally {
        await client.query('ROLLBACK');
        client.release();
        await Promise.all(crowd);
      }
      return `${most} connections waited, and orders beyond them were refused`;
    },
  },
];

/** Makes every transaction read-only, as the server of a former primary does, and restores the setting. */
async function whileReadOnly<T>({ admin }: System, use: () => Promise<T>): Promise<T> {
  const client = await admin.connect();
  try {
    await client.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await client.query('SELECT pg_reload_conf()');
    return await use();
  } finally {
    await client.query('ALTER SYSTEM RESET default_transaction_read_only');
    await client.query('SELECT pg_reload_conf()');
    client.release();
  }
}

async function serverTime({ admin }: System): Promise<Date> {
  const { rows } = await admin.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now ?? new Date();
}

/**
 * Waits until consumers have handled events since a time. Returns the number of events and their largest number of
 * attempts.
 */
async function deliveriesSince(system: System, since: Date): Promise<{ taken: number; longest: number }> {
  const read = async () => {
    const inboxes = ['orders', 'catalogue', 'notifications', 'changes'].map(
      (schema) => `SELECT attempt, taken_at FROM ${schema}.inbox`,
    );
    const { rows } = await system.admin.query<{ taken: number; longest: number }>(
      `SELECT count(*)::int AS taken, coalesce(max(attempt), 0)::int AS longest
       FROM (${inboxes.join(' UNION ALL ')}) AS inbox WHERE taken_at > $1`,
      [since],
    );
    return rows[0] ?? { taken: 0, longest: 0 };
  };
  await seen(async () => (await read()).taken > 0);
  return read();
}

async function orderOnce({ system, productIds, journal, random }: Scene<System>): Promise<void> {
  const buyer = random.pick(system.buyers);
  const lines = [{ productId: random.pick(productIds), quantity: 1 }];
  const outcome: OrderOutcome = { key: randomUUID(), accountId: buyer.accountId, lines };
  journal.orders.push(outcome);
  await placeOrder(journal, system.gatewayUrl, buyer.token, outcome);
}
