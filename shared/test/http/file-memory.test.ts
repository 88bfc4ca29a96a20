// The files in memory are bounded together, also when clients leave at any time.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { forgetFile, readBody } from '../../src/http/read-body.ts';
import { Problem } from '../../src/problem/index.ts';

const maxBytes = 10 * 1024 * 1024;
const rule = {
  required: true,
  mediaTypes: ['text/plain'],
  maxBytes,
  isFile: true,
  acceptHeader: 'Accept-Post',
} as const;
/** Milliseconds for which a request waits before its body is read, as for the verification of a token. */
const waits = 100;

let server: Server;
let port: number;
let handled = 0;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    await sleep(waits);
    try {
      const body = await readBody(request as Request, rule);
      response.end(String(body?.length));
    } catch (error) {
      response.statusCode = error instanceof Problem ? error.status : 500;
      response.end();
    } finally {
      forgetFile(request as Request);
      handled += 1;
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.close();
});

/** Announces a file of the maximum size, sends a part of it, and leaves. */
async function leave(after: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(`POST / HTTP/1.1\r\nHost: shop\r\nContent-Type: text/plain\r\nContent-Length: ${maxBytes}\r\n\r\npart`);
  await sleep(after);
  socket.destroy();
}

it.each([
  ['before its body is read', waits / 2],
  ['while its body is read', 2 * waits],
])('a file does not count any more when its client disconnects %s', async (_name, after) => {
  const before = handled;
  await Promise.all(Array.from({ length: 4 }, () => leave(after)));
  for (const end = Date.now() + 5_000; handled < before + 4 && Date.now() < end; ) await sleep(10);
  expect(handled).toBe(before + 4);
  const body = Buffer.alloc(maxBytes, 'x');
  const answer = await fetch(`http://127.0.0.1:${port}`, {
    ...{ method: 'POST', body, headers: { 'Content-Type': 'text/plain' } },
  });
  expect([answer.status, await answer.text()]).toEqual([200, String(maxBytes)]);
});
