// The sender of the fuzzer frames the body of every request, so that a body is never read as the next request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { send } from './send.ts';

it.each(['GET', 'DELETE', 'OPTIONS', 'POST'])('sends the chunked body of a %s request as its body', async (method) => {
  const server = createServer((request, response) => {
    request.toArray().then((parts) => response.end(Buffer.concat(parts)), response.destroy);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sent = { method, target: '/', headers: {}, body: Buffer.from('some bytes'), chunked: true };
    expect(await send(url, sent)).toMatchObject({ status: 200, text: 'some bytes' });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
