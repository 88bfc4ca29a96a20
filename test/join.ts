// Two connections that become one: what a test puts between a client and a server.
import type { Socket } from 'node:net';

/** Passes the bytes of each on to the other, and ends each after the other. `open` holds both for as long as they are open. */
export function join(client: Socket, server: Socket, open: Set<Socket>): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(from);
    from.on('error', () => {});
    from.on('close', () => {
      open.delete(from);
      to.destroySoon();
    });
    from.pipe(to);
  }
}
