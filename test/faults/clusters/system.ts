// The shop over a cluster of PostgreSQL servers, a cluster of RabbitMQ nodes, and a Redis.
import type { ServiceName } from '@shop/shared/shop';
import { type Deployment, deploy, roles, type ShopOptions } from '../outages/deployment.ts';
import { type RealRedis, startRealRedis } from '../restarts/redis-server.ts';
import { type Machine, startMachines } from './machines.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { type PostgresCluster, startPostgresCluster } from './postgres-cluster.ts';
import { type RabbitmqCluster, startRabbitmqCluster } from './rabbitmq-cluster.ts';

export interface ClusterSystem extends Deployment {
  readonly postgres: PostgresCluster;
  readonly broker: RabbitmqCluster;
  readonly redis: RealRedis;
}

const machineNames = ['database-0', 'database-1', 'database-2', 'broker-0', 'broker-1', 'broker-2'];

/** Starts everything and waits until it is ready. */
export async function startClusterSystem(options: ShopOptions): Promise<ClusterSystem> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const machines = await startMachines(machineNames);
    stops.push(() => machines.stop());
    const named = (name: string): Machine[] => machines.all.filter((machine) => machine.name.startsWith(name));
    const postgres = await startPostgresCluster(named('database'));
    stops.push(() => postgres.stop());
    const pgbouncer = await startPgBouncer(postgres.folder, postgres.host, roles);
    stops.push(() => pgbouncer.stop());
    const broker = await startRabbitmqCluster(named('broker'));
    stops.push(() => broker.stop());
    const redis = await startRealRedis();
    stops.push(() => redis.signal('SIGKILL'));
    // Each of the three ways to the primary is used by replicas of orders or catalogue, and of another service. All
    // other services use the first one.
    const [haproxy, several] = [postgres.host, postgres.members.map(({ host }) => host).join()];
    const hosts: Readonly<Partial<Record<ServiceName, readonly [string, string]>>> = {
      accounts: [haproxy, pgbouncer.host],
      orders: [haproxy, several],
      catalogue: [pgbouncer.host, several],
      notifications: [haproxy, several],
    };
    const deployment = await deploy(
      {
        adminUrl: postgres.adminUrl,
        databaseHost: (service, replica) => hosts[service]?.[replica] ?? haproxy,
        brokerUrl: broker.nodes[0]?.url ?? '',
        eventsUrl: broker.url,
        redisUrl: redis.url,
      },
      options,
    );
    stops.push(() => deployment.stop());
    return { ...deployment, postgres, broker, redis, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
