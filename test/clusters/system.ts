// The shop over a cluster of PostgreSQL servers and a cluster of RabbitMQ nodes.
import { type Deployment, deploy, roles, type ShopOptions } from '../outages/deployment.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { type PostgresCluster, startPostgresCluster } from './postgres-cluster.ts';
import { type RabbitmqCluster, startRabbitmqCluster } from './rabbitmq-cluster.ts';

export interface ClusterSystem extends Deployment {
  readonly postgres: PostgresCluster;
  readonly broker: RabbitmqCluster;
}

/** Starts everything and waits until it is ready. */
export async function startClusterSystem(options: ShopOptions): Promise<ClusterSystem> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const postgres = await startPostgresCluster();
    stops.push(() => postgres.stop());
    const pgbouncer = await startPgBouncer(postgres.folder, postgres.host, roles);
    stops.push(() => pgbouncer.stop());
    const broker = await startRabbitmqCluster();
    stops.push(() => broker.stop());
    const deployment = await deploy(
      {
        adminUrl: postgres.adminUrl,
        // One replica of each service is behind PgBouncer, which is behind HAProxy, too.
        databaseHosts: [postgres.host, pgbouncer.host],
        brokerUrl: broker.nodes[0]?.url ?? '',
        eventsUrl: broker.url,
      },
      options,
    );
    stops.push(() => deployment.stop());
    return { ...deployment, postgres, broker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
