// The shop over a cluster of PostgreSQL and one broker.
import { startBrokerServer } from '../../shared/src/testing/servers/broker-server.ts';
import { type Deployment, deploy, type ShopOptions } from '../outages/deployment.ts';
import { type PostgresCluster, startPostgresCluster } from './postgres-cluster.ts';

export interface ClusterSystem extends Deployment {
  readonly postgres: PostgresCluster;
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
    const broker = await startBrokerServer({ own: true });
    stops.push(() => broker.stop());
    const deployment = await deploy(
      { adminUrl: postgres.adminUrl, databaseHost: postgres.host, brokerUrl: broker.url, eventsUrl: broker.url },
      options,
    );
    stops.push(() => deployment.stop());
    return { ...deployment, postgres, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
