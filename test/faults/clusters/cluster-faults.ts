// All faults of a shop over clusters.
import type { Fault } from '../outages/fault.ts';
import { postgresFaults } from './postgres-faults.ts';
import { rabbitmqFaults } from './rabbitmq-faults.ts';
import { redisFaults } from './redis-faults.ts';
import type { ClusterSystem } from './system.ts';

/** Everything that the shop stands on is killed, as by a loss of power, and started again. */
const everything: Fault<ClusterSystem> = {
  name: 'all servers of all clusters are killed',
  interrupts: 'database',
  async inject({ system: { postgres, broker, redis } }) {
    const began = performance.now();
    await Promise.all([
      ...postgres.members.map((member) => member.kill()),
      ...postgres.members.map((_, index) => postgres.etcd.kill(index)),
      ...broker.nodes.map((node) => node.kill()),
      redis.signal('SIGKILL'),
    ]);
    for (const [index, member] of postgres.members.entries()) {
      postgres.etcd.start(index);
      member.start();
    }
    const brokers = broker.nodes.map((node) => node.start());
    await Promise.all([...brokers, redis.start()]);
    const next = await postgres.primary();
    return `${next.name} committed after ${((performance.now() - began) / 1000).toFixed(1)} s`;
  },
  async repair({ postgres, broker }) {
    await postgres.untilComplete();
    await broker.untilComplete();
  },
};

/** Commits may be impossible for half a minute. */
const withoutDatabase = (fault: Fault<ClusterSystem>): Fault<ClusterSystem> => ({ ...fault, repeatsMails: true });

export const clusterFaults: readonly Fault<ClusterSystem>[] = [
  ...postgresFaults.map(withoutDatabase),
  ...rabbitmqFaults,
  ...redisFaults,
  withoutDatabase(everything),
];
