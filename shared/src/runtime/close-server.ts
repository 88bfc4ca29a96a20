// Closes an HTTP server without losing a request.
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Closes the server. For `drain` milliseconds, every response closes its connection, so that clients use another server
 * before the port closes. Then running requests finish, for as long as `within` allows.
 * @param drain longer than the idle time of the clients' connections, so that no request arrives when the port closes
 * @param within milliseconds from the call to the end of the last connection
 */
export async function closeServer(
  server: Server,
  { drain, within }: { readonly drain: number; readonly within: number },
): Promise<void> {
  const closeAfter = (_request: unknown, response: ServerResponse): void => {
    response.shouldKeepAlive = false;
  };
  server.prependListener('request', closeAfter);
  // With a listener of this event, Node.js no longer sends `100 Continue` by itself.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', closeAfter);
  await sleep(drain);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  // Connections that become idle later close by themselves, because their last response has `Connection: close`. A peer
  // that has vanished never completes its request, and a server that is closed applies none of its time limits.
  await Promise.race([closed, sleep(within - drain, undefined, { ref: false })]);
  server.closeAllConnections();
}
