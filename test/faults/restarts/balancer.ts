// A load balancer: passes each new connection to the next process that is ready.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from '../../join.ts';
import { isReady } from './process.ts';

export interface Balancer {
  readonly url: string;
  readonly targets: readonly string[];
  /** Whether new connections go to the process at this address. */
  sendsTo(url: string): boolean;
  close(): Promise<void>;
}

const askEvery = 200;

/**
 * Like a load balancer in a cluster, it distributes connections, and the readiness probe tells it when a process stops.
 */
export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  const ready = new Map(targets.map((url) => [url, false]));
  const sockets = new Set<Socket>();
  let turn = 0;
  let closed = false;

  const watch = async (url: string): Promise<void> => {
    while (!closed) {
      ready.set(url, await isReady(url));
      await new Promise((resolve) => setTimeout(resolve, askEvery));
    }
  };
  const watching = Promise.all(targets.map(watch));

  const server = createServer((client) => {
    const usable = targets.filter((url) => ready.get(url) === true);
    turn += 1;
    const { port, hostname } = new URL(usable[turn % usable.length] ?? targets[0] ?? '');
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true });
    client.setNoDelay(true);
    join(client, upstream, sockets);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    sendsTo: (url) => ready.get(url) === true,
    async close() {
      closed = true;
      const ended = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all([ended, watching]);
    },
  };
}
