// From the first connection to the end of the last answer: how the server listens and how it stops.
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type ProcessLife, StartError } from '@shop/shared/runtime';
import type { GatewayRequest } from '../plugin/entry/gateway-request.ts';

/** From the signal to the end of the last running request. */
const stopWithin = 9_500;

/**
 * Listens until the process stops. Then it says so for `drain` milliseconds: not ready, and every answer closes its
 * connection; whoever sends requests here has turned elsewhere by the time the port closes. What runs is finished.
 * @param stopping told first
 * @returns the port
 * @throws StartError when the port is taken or not allowed
 */
export async function listen(
  server: Server<typeof GatewayRequest>,
  { host, port, drain }: { host: string; port: number; drain: number },
  life: ProcessLife,
  stopping: () => void,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is taken' : error.code;
      reject(new StartError(`cannot listen on ${host}:${port} (${reason})`));
    });
    server.listen(port, host, resolve);
  });
  life.onStop('HTTP server', async () => {
    stopping();
    const lastAnswer = (_request: unknown, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    };
    server.prependListener('request', lastAnswer).prependListener('checkContinue', lastAnswer);
    await setTimeout(drain);
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    // Connections that fall idle after this moment close by themselves: their last answer said so.
    await Promise.race([closed, setTimeout(stopWithin - drain)]);
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
