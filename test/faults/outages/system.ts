// The shop over one PostgreSQL and one broker, with proxies between them that can inject faults.
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@shop/shared/embedded';
import { type BrokerServer, startBrokerServer } from '../../../shared/src/testing/servers/broker-server.ts';
import { type Deployment, deploy, type ShopOptions } from './deployment.ts';
import { startProxy, type TcpProxy } from './proxy.ts';

export interface System extends Deployment {
  readonly broker: BrokerServer;
  /** The proxy between the services and the broker. */
  readonly brokerProxy: TcpProxy;
  /** The proxy between the services and PostgreSQL. */
  readonly databaseProxy: TcpProxy;
  restartPostgres(downFor: number): Promise<void>;
  /** How many deadlocks PostgreSQL has found so far. */
  deadlocks(): Promise<number>;
}

/** Starts everything and waits until it is ready. */
export async function startSystem(options: ShopOptions): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-outages-'));
  await chmod(folder, 0o711); // PostgreSQL runs as a user of its own
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    let [postgres, broker] = await Promise.all([
      startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: true }),
      startBrokerServer({ own: true }),
    ]);
    stops.push(() => broker.stop());
    stops.push(() => postgres.stop());
    const eventsUrl = new URL(broker.url);
    const brokerProxy = await startProxy([{ host: eventsUrl.hostname, port: Number(eventsUrl.port) }]);
    const databaseProxy = await startProxy([{ host: '127.0.0.1', port: postgres.port }]);
    stops.push(
      () => brokerProxy.close(),
      () => databaseProxy.close(),
    );
    eventsUrl.host = `127.0.0.1:${brokerProxy.port}`;
    const deployment = await deploy(
      {
        adminUrl: postgres.url,
        brokerUrl: broker.url,
        databaseHost: () => `127.0.0.1:${databaseProxy.port}`,
        eventsUrl: eventsUrl.href,
      },
      options,
    );
    stops.push(() => deployment.stop());
    return {
      ...deployment,
      broker,
      brokerProxy,
      databaseProxy,
      async deadlocks() {
        const log = await readFile(join(folder, 'postgres', 'postgres.log'), 'utf8');
        return log.split('deadlock detected').length - 1;
      },
      async restartPostgres(downFor) {
        const { port } = postgres;
        await postgres.stop();
        await sleep(downFor);
        postgres = await restart(folder, port);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function restart(folder: string, port: number): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), port, durable: true });
}
