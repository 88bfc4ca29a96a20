// Finds loopback ports that nobody listens on.

import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

// Below the ports that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere; RFC 6335 section 6): none
// of those takes the port between being found and being listened on.
const first = 15_000;
const last = 31_999;

/**
 * `count` different TCP ports that were free on 127.0.0.1 a moment ago.
 * @throws Error when hardly any port is free
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly server: Server; readonly port: number }[] = [];
  for (let attempt = 0; held.length < count; attempt += 1) {
    if (attempt >= count + 1_000) throw new Error(`no free port from ${first} to ${last} was found on 127.0.0.1`);
    const port = first + Math.floor(Math.random() * (last - first + 1));
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening').then(
      () => held.push({ server, port }),
      () => {}, // taken
    );
  }
  await Promise.all(held.map(({ server }) => new Promise((done) => server.close(done))));
  return held.map(({ port }) => port);
}
