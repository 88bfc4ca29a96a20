// Clients that do not read their answers: what waits for them is held in memory, and their connections are not idle.
import type { Socket } from 'node:net';
import type { Log } from '@shop/shared/runtime';

/** Milliseconds between two looks at all connections. */
const every = 5_000;
/** Looks at a connection, 30 s in all, of which one must find that the client has read something. */
const looks = 6;

interface Waiting {
  /** Bytes that the client, or the buffers on the way to it, have taken from the connection. */
  readonly taken: number;
  readonly looks: number;
}

/**
 * Closes each connection from which nothing has been taken for `looks` × `every` although bytes wait. Node's own time-out begins
 * again whenever the client sends something or the server adds to what waits. Looks are counted instead of time, because it may have
 * been this process that stood still.
 * @param sockets the open connections
 */
export function watchReaders(sockets: () => Iterable<Socket>, log: Log): NodeJS.Timeout {
  const waiting = new WeakMap<Socket, Waiting>();
  const look = (): void => {
    let closed = 0;
    for (const socket of sockets()) {
      if (socket.writableLength === 0) {
        waiting.delete(socket);
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      const known = waiting.get(socket);
      const count = known?.taken === taken ? known.looks + 1 : 0;
      waiting.set(socket, { taken, looks: count });
      if (count < looks) continue;
      socket.destroy();
      closed += 1;
    }
    if (closed > 0) log.warn({ closed }, 'connections closed: their clients do not read the answers');
  };
  return setInterval(look, every).unref();
}
