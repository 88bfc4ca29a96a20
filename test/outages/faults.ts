// Every fault that a round can inject. A fault tells whether it was seen to happen: a round without its fault proves nothing.
import { type CrashPoint, crashPoints } from './crash-points.ts';
import type { Random } from './random.ts';
import type { Supervised } from './supervised.ts';
import type { ServiceName, System } from './system.ts';

export interface Fault {
  readonly name: string;
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
  killed((system) => system.all(), 'all processes are killed at once'),
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
];
