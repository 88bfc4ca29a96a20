// Every fault that a round can inject. A fault tells whether it was seen to happen: a round without its fault proves nothing.
import { connect } from 'amqplib';
import { type CrashPoint, crashPoints } from './crash-points.ts';
import type { Random } from './random.ts';
import type { Supervised } from './supervised.ts';
import type { ServiceName, System } from './system.ts';

export interface Fault {
  readonly name: string;
  /** Milliseconds until all is well again; 10,000 unless more has to be started at once than two cores can. */
  readonly recovery?: number;
  /** Breaks something while buyers shop, mends it, and resolves to what shows that it was broken; undefined when nothing was. */
  inject(system: System, random: Random): Promise<string | undefined>;
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function seen(happened: () => boolean, within = 10_000): Promise<boolean> {
  const deadline = performance.now() + within;
  while (!happened()) {
    if (performance.now() > deadline) return false;
    await pause(20);
  }
  return true;
}

/** Which service passes a crash point in the course of orders. */
const crashPlaces: Record<CrashPoint, ServiceName> = {
  'after BEGIN': 'orders',
  'before COMMIT': 'orders',
  'after COMMIT before the answer': 'orders',
  'between reservation and order': 'orders',
  'after publish before mark': 'orders',
  "after the handler's COMMIT before the ack": 'catalogue',
};

function crash(point: CrashPoint, service: ServiceName): Fault {
  return {
    name: `${service} dies ${point}`,
    async inject(system) {
      const processes = system.processes(service);
      const before = processes.map((each) => each.deaths());
      for (const each of processes) each.crashAt(point);
      const died = await seen(() => processes.every((each, index) => each.deaths() > (before[index] ?? 0)), 20_000);
      return died ? `${processes.length} processes died` : undefined;
    },
  };
}

function killed(pick: (system: System) => readonly Supervised[], name: string): Fault {
  return {
    name,
    async inject(system) {
      const processes = pick(system);
      const before = processes.map((each) => each.deaths());
      for (const each of processes) each.kill('SIGKILL');
      const died = await seen(() => processes.every((each, index) => each.deaths() > (before[index] ?? 0)));
      return died ? `${processes.length} processes were killed` : undefined;
    },
  };
}

export const faults: readonly Fault[] = [
  ...crashPoints.map((point) => crash(point, crashPlaces[point])),
  crash("after the handler's COMMIT before the ack", 'notifications'),
  crash("after the handler's COMMIT before the ack", 'orders'),
  crash('after publish before mark', 'catalogue'),
  killed((system) => system.processes('catalogue').slice(0, 1), 'one catalogue process is killed'),
  killed((system) => system.processes('orders').slice(1), 'one orders process is killed'),
  killed((system) => system.processes('gateway'), 'the gateway is killed'),
  { ...killed((system) => system.all(), 'all processes are killed at once'), recovery: 30_000 },
  {
    name: 'a catalogue process hangs',
    async inject(system) {
      const [process] = system.processes('catalogue');
      process?.kill('SIGSTOP');
      await pause(4_000);
      process?.kill('SIGCONT');
      return 'stopped for 4 s';
    },
  },
  {
    name: 'the broker is out of reach',
    async inject(system) {
      system.brokerProxy.refuse();
      await pause(3_000);
      const { rows } = await system.admin.query<{ waiting: number }>(
        'SELECT count(*)::int AS waiting FROM orders.outbox WHERE published_at IS NULL',
      );
      system.brokerProxy.pass();
      const waiting = rows[0]?.waiting ?? 0;
      return waiting > 0 ? `${waiting} events waited` : undefined;
    },
  },
  {
    name: 'the broker hangs',
    async inject(system) {
      system.brokerProxy.hang();
      await pause(5_000);
      const { rows } = await system.admin.query<{ waiting: number }>(
        'SELECT count(*)::int AS waiting FROM orders.outbox WHERE published_at IS NULL',
      );
      system.brokerProxy.pass();
      const waiting = rows[0]?.waiting ?? 0;
      return waiting > 0 ? `${waiting} events waited` : undefined;
    },
  },
  {
    name: 'the broker is stopped and started',
    async inject(system) {
      await system.broker.control('stop_app');
      await pause(1_000);
      await system.broker.control('start_app');
      return 'stop_app and start_app were carried out';
    },
  },
  {
    name: 'the broker blocks publishers (disk alarm)',
    async inject(system) {
      await system.broker.control('set_disk_free_limit', '900GB');
      await pause(3_000);
      const alarms = await system.broker.control('status');
      const { rows } = await system.admin.query<{ waiting: number }>(
        'SELECT count(*)::int AS waiting FROM orders.outbox WHERE published_at IS NULL',
      );
      await system.broker.control('set_disk_free_limit', '50MB');
      const waiting = rows[0]?.waiting ?? 0;
      return /disk/i.test(alarms) && waiting > 0 ? `the alarm was on and ${waiting} events waited` : undefined;
    },
  },
  {
    name: 'the inventory queue is deleted',
    async inject(system) {
      const queues = await system.broker.control('list_queues', 'name', '--quiet');
      const queue = queues
        .split('\n')
        .map((line) => line.trim())
        .find((line) => /catalogue\.inventory$/.test(line));
      if (queue === undefined) return undefined;
      await system.broker.control('delete_queue', queue);
      return `${queue} was deleted`;
    },
  },
  {
    name: 'PostgreSQL is restarted',
    async inject(system) {
      await system.restartPostgres(1_000);
      return 'stopped for a second and started again';
    },
  },
  {
    name: 'all database connections are terminated',
    async inject(system) {
      let ended = 0;
      for (let time = 0; time < 5; time += 1) {
        const { rowCount } = await system.admin.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('accounts', 'orders', 'catalogue', 'notifications')",
        );
        ended += rowCount ?? 0;
        await pause(300);
      }
      return ended > 0 ? `${ended} connections were terminated` : undefined;
    },
  },
  {
    name: 'the database connection is cut between COMMIT and its answer',
    async inject(system) {
      const before = system.databaseProxy.cuts();
      for (let time = 1; time <= 4; time += 1) {
        system.databaseProxy.cutAnswerTo('COMMIT');
        await seen(() => system.databaseProxy.cuts() >= before + time, 3_000);
      }
      const cuts = system.databaseProxy.cuts() - before;
      return cuts > 0 ? `${cuts} connections were cut` : undefined;
    },
  },
  {
    name: 'the database hangs',
    async inject(system) {
      system.databaseProxy.hang();
      await pause(4_000);
      system.databaseProxy.pass();
      return 'nothing passed for 4 s';
    },
  },
  {
    name: 'the connections of orders are all held up',
    async inject(system) {
      const client = await system.admin.connect();
      try {
        await client.query('BEGIN');
        await client.query('LOCK TABLE orders.orders IN ACCESS EXCLUSIVE MODE');
        await pause(4_000);
        const { rows } = await system.admin.query<{ waiting: number }>(
          "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE usename = 'orders' AND wait_event_type = 'Lock'",
        );
        const waiting = rows[0]?.waiting ?? 0;
        return waiting > 0 ? `${waiting} connections waited` : undefined;
      } finally {
        await client.query('ROLLBACK');
        client.release();
      }
    },
  },
  {
    name: 'each event is delivered ten times, shuffled',
    async inject(system) {
      let again = 0;
      for (let time = 0; time < 10; time += 1) {
        for (const schema of ['accounts', 'orders', 'catalogue', 'notifications']) {
          const { rowCount } = await system.admin.query(
            `UPDATE ${schema}.outbox SET published_at = NULL WHERE id IN (
               SELECT id FROM ${schema}.outbox WHERE published_at > now() - interval '20 seconds' ORDER BY random() LIMIT 300
             )`,
          );
          again += rowCount ?? 0;
        }
        await pause(300);
      }
      return again > 0 ? `${again} events were published again` : undefined;
    },
  },
  {
    name: 'poison messages arrive',
    async inject(system) {
      const connection = await connect(system.broker.url);
      const channel = await connection.createConfirmChannel();
      const poison = [
        '',
        'no JSON',
        '{}',
        '[]',
        '{"specversion":"1.0","id":"x","type":"order.cancelled.v1","data":null}',
      ];
      for (const content of poison)
        channel.publish('shop.events', 'order.cancelled.v1', Buffer.from(content), { persistent: true });
      await channel.waitForConfirms();
      await connection.close();
      // Two consumers take this type of event, and each has to put every one of them aside.
      const dead = async (): Promise<number> =>
        (await deadLetterCounts(system)).reduce((sum, { count }) => sum + count, 0);
      const deadline = performance.now() + 15_000;
      while ((await dead()) < 2 * poison.length && performance.now() < deadline) await pause(100);
      const count = await dead();
      for (const { queue } of await deadLetterCounts(system)) await system.broker.control('purge_queue', queue);
      return count === 2 * poison.length ? `${count} dead letters` : undefined;
    },
  },
];

/** Every dead-letter queue that is not empty. */
export async function deadLetterCounts(system: System): Promise<{ queue: string; count: number }[]> {
  const printed = await system.broker.control('list_queues', 'name', 'messages', '--quiet');
  return printed
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([queue = '', count = '0']) => queue.endsWith('.dead') && Number(count) > 0)
    .map(([queue = '', count = '0']) => ({ queue, count: Number(count) }));
}
