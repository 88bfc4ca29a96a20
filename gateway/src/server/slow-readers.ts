// Disconnects clients that do not read their responses. Unread responses occupy memory, and these connections do not
// count as idle.
import type { Server, Socket } from 'node:net';
import type { Log } from '@shop/shared/runtime';

/** Milliseconds between two checks of all connections. */
const every = 5_000;
/** Successive checks, 30 s in all. At least one of them must find that the client has read data. */
const checksWithoutProgress = 6;

interface Waiting {
  /** Bytes that the process has sent to the client. */
  readonly sent: number;
  readonly checks: number;
}

/**
 * Closes each connection with pending bytes when its client has read nothing in `checksWithoutProgress` checks. Node's
 * own timeout restarts whenever the client sends or the server writes data. Checks are counted instead of time, because
 * this process itself may have been blocked.
 */
export function watchReaders(server: Server, log: Log): void {
  const sockets = new Set<Socket>();
  /** Removes a closed connection. All connections share this listener, because thousands of them may be open. */
  function forget(this: Socket): void {
    sockets.delete(this);
  }
  server.on('connection', (socket) => sockets.add(socket.on('close', forget)));
  const waiting = new WeakMap<Socket, Waiting>();
  const check = (): void => {
    let closed = 0;
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        waiting.delete(socket);
        continue;
      }
      const sent = socket.bytesWritten - socket.writableLength;
      const known = waiting.get(socket);
      const count = known?.sent === sent ? known.checks + 1 : 0;
      waiting.set(socket, { sent, checks: count });
      if (count < checksWithoutProgress) continue;
      socket.destroy();
      closed += 1;
    }
    if (closed > 0) log.warn({ closed }, 'connections closed: their clients do not read the responses');
  };
  const timer = setInterval(check, every).unref();
  server.on('close', () => clearInterval(timer));
}
