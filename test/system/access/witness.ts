// A proxy between the gateway and a service that forwards every byte and records the requests.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from '../../join.ts';

export interface Witness {
  /** The address for the gateway. */
  readonly url: string;
  /** Whether a request with this id was forwarded. */
  heard(requestId: string): boolean;
  close(): Promise<void>;
}

/** Listens on a free loopback port in front of the service at `url`. */
export async function startWitness(url: string): Promise<Witness> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let heard = '';
  const server = createServer((client) => {
    const service = connect({ host: hostname, port: Number(port) });
    client.on('data', (chunk) => {
      heard += chunk.toString('latin1');
    });
    join(client, service, sockets);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: (requestId) => heard.includes(`x-request-id: ${requestId}\r\n`),
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
