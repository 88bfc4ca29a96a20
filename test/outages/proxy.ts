// A TCP proxy in front of PostgreSQL or the broker: passes, hangs, refuses, or cuts a connection at a chosen byte
// sequence.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Blocks both directions, also of new connections, until `pass`. */
  hang(): void;
  /** Ends all connections and refuses new ones until `pass`. */
  refuse(): void;
  pass(): void;
  /**
   * Cuts the next connection on which a client sends `bytes`. They reach the server, but its reply does not reach the
   * client.
   * @param of bytes that the client must have sent when it connected
   */
  cutAnswerTo(bytes: string, of?: string): void;
  /** How many connections were cut by `cutAnswerTo`. */
  cuts(): number;
  close(): Promise<void>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Listens on a free loopback port. Of several targets each connection takes the next one that answers. */
export async function startProxy(targets: readonly Target[]): Promise<TcpProxy> {
  let turn = 0;
  let mode: 'pass' | 'hang' | 'refuse' = 'pass';
  let cut: { readonly at: string; readonly of: string } | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    if (mode === 'hang') socket.pause();
  };

  const reach = async (): Promise<Socket | undefined> => {
    for (let tried = 0; tried < targets.length; tried += 1) {
      const target = targets[turn++ % targets.length];
      if (target === undefined) continue;
      const socket = connect(target.port, target.host);
      const connected = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false);
      if (connected) return socket;
      socket.destroy();
    }
    return undefined;
  };

  const server = createServer({ pauseOnConnect: true }, async (client) => {
    if (mode === 'refuse') {
      client.destroy();
      return;
    }
    client.on('error', () => {});
    const upstream = await reach();
    if (upstream === undefined || client.destroyed) {
      client.destroy();
      upstream?.destroy();
      return;
    }
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    track(client);
    track(upstream);
    let deaf = false;
    let greeting: Buffer | undefined;
    client.on('data', (data) => {
      greeting ??= data;
      if (cut !== undefined && data.includes(cut.at) && greeting.includes(cut.of)) {
        cut = undefined;
        cuts += 1;
        deaf = true;
        upstream.write(data);
        setTimeout(() => client.destroy(), 50);
        return;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!deaf) client.write(data);
    });
    if (mode === 'pass') client.resume();
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    hang() {
      mode = 'hang';
      for (const socket of sockets) socket.pause();
    },
    refuse() {
      mode = 'refuse';
      for (const socket of sockets) socket.destroy();
    },
    pass() {
      mode = 'pass';
      for (const socket of sockets) socket.resume();
    },
    cutAnswerTo(bytes, of = '') {
      cut = { at: bytes, of };
    },
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close').catch(() => {});
    },
  };
}
