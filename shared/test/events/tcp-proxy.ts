// A TCP proxy that can close, refuse and freeze connections, to simulate a broker or a database that is lost,
// unavailable or hanging.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePorts } from '../../src/embedded/index.ts';

export interface TcpProxy {
  /** `url` with the proxy's address in place of the server's. */
  readonly url: string;
  /** Ends every connection and refuses new ones until `restore`. */
  cut(): Promise<void>;
  /** Keeps every connection open and forwards nothing until `restore`. */
  freeze(): void;
  /** Keeps the present connections open, and forwards nothing on them any more. New ones work. */
  lose(): void;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(to: string): Promise<TcpProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  let frozen = false;
  const serve = () =>
    createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      for (const [from, into] of [
        [client, server],
        [server, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => {});
        from.on('close', () => {
          sockets.delete(from);
          into.destroy();
        });
        from.on('data', (data) => {
          if (!frozen && !lost.has(from)) into.write(data);
        });
      }
    });
  const [port = 0] = await freePorts(1);
  let listener = serve();
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = async () => {
    const closed = listener.listening ? once(listener, 'close') : undefined;
    listener.close();
    destroyAll();
    await closed;
  };
  const url = new URL(to);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    cut,
    freeze() {
      frozen = true;
    },
    lose() {
      for (const socket of sockets) lost.add(socket);
    },
    async restore() {
      if (frozen) destroyAll(); // bytes are missing in them
      frozen = false;
      if (listener.listening) return;
      listener = serve();
      listener.listen(port, '127.0.0.1');
      await once(listener, 'listening');
    },
    close: cut,
  };
}
