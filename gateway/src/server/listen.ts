// Starts the server to listen, and stops it after the last running request.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer, type ProcessLife, StartError } from '@shop/shared/runtime';
import type { GatewayRequest } from '../entry/gateway-request.ts';

/** Milliseconds from the signal to the end of the last running request. */
const stopWithin = 9_500;

/**
 * Listens until the process stops. Then the gateway reports for `drain` milliseconds that it is not ready, and every
 * response closes its connection. So clients and load balancers use another gateway before the port closes. Running
 * requests finish.
 * @param stopping called first when the process stops
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
    await closeServer(server, { drain, within: stopWithin });
  });
  return (server.address() as AddressInfo).port;
}
