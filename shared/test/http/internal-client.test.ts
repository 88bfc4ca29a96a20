// Calls between services over real connections: which failures are repeated, and the caller's error.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createServiceTokens } from '../../src/auth/index.ts';
import { createInternalClient, type InternalClient } from '../../src/http/index.ts';

const identity = { id: 'a-request', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
const unavailable = { code: 'service-unavailable', headers: { 'Retry-After': '1' } };

let server: Server;
let port: number;
let client: InternalClient;
let attempts: number;
/** The number of connections that the server closes without a response. */
let broken: number;
let status: number;

beforeEach(async () => {
  attempts = 0;
  broken = 0;
  status = 200;
  server = createServer((request, response) => {
    attempts += 1;
    if (attempts <= broken) request.socket.destroy();
    else request.resume().on('end', () => response.writeHead(status).end('{"done":true}'));
  });
  port = await listen(0);
  const serviceTokens = createServiceTokens({ secrets: ['s'.repeat(32)], name: 'orders' });
  client = createInternalClient({ url: `http://127.0.0.1:${port}`, service: 'catalogue', serviceTokens });
});
afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

async function listen(at: number): Promise<number> {
  await once(server.listen(at, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const post = () => client.post('/internal/reservations', { units: 1 }, identity);

it('the internal client retries a request while the port is closed for a moment', async () => {
  await once(server.close(), 'close');
  const answer = post();
  await setTimeout(30);
  await listen(port);
  expect(await answer).toEqual({ status: 200, body: { done: true } });
});

it('the internal client retries a request with a broken connection up to two times', async () => {
  broken = 2;
  expect(await post()).toEqual({ status: 200, body: { done: true } });
  expect(attempts).toBe(3);
  attempts = 0;
  broken = 3;
  await expect(post()).rejects.toMatchObject(unavailable);
  expect(attempts).toBe(3);
});

it('the internal client retries no request that got a response', async () => {
  status = 500;
  await expect(post()).rejects.toMatchObject(unavailable);
  status = 409;
  expect(await post()).toEqual({ status: 409, body: { done: true } });
  expect(attempts).toBe(2);
});

it('the internal client rejects when the port stays closed', async () => {
  await once(server.close(), 'close');
  await expect(post()).rejects.toMatchObject(unavailable);
});
