// Checks that the gateway can listen on its port, before any process is started.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '@shop/shared/runtime';

/**
 * Checks that the port is free.
 * @param wait milliseconds to wait for the port, because the gateway of a killed launcher stops a moment later
 * @throws StartError with one line that states the remedy
 */
export async function claimPort(host: string, port: number, wait: number): Promise<void> {
  for (const end = Date.now() + wait; ; await sleep(100)) {
    const server = createServer().listen({ host, port, exclusive: true });
    try {
      await once(server, 'listening');
      await new Promise((done) => server.close(done));
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE' && Date.now() < end) continue;
      if (code === 'EADDRINUSE') throw new StartError(`port ${port} is taken: set GATEWAY_PORT to another one`);
      throw new StartError(
        `the gateway cannot listen on ${host}, port ${port} (${code}): set GATEWAY_HOST, GATEWAY_PORT`,
      );
    }
  }
}
