// Slow and silent clients: how long they stay connected, and the memory that they need.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { createLog } from '@shop/shared/runtime';
import { readEnvironment } from '../../src/config.ts';
import { createGatewayServer } from '../../src/server/server.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const limits = {
  trustedProxies: 0,
  maximumBody: 1,
  maximumTarget: 8192,
  maximumHeader: 16384,
  maximumConnections: 100,
  deadline: 1,
};
const sockets: Socket[] = [];
let gateway: TestGateway | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.stop();
});

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

it('the gateway does not close a silent connection before the deadline of its request, and for at least a minute', () => {
  const timeoutAt = (deadline: number): number =>
    createGatewayServer(() => {}, { ...limits, deadline }, createLog('test', 'silent')).timeout;
  expect(timeoutAt(10_000)).toBe(60_000);
  expect(timeoutAt(60_000)).toBeGreaterThan(60_000);
  expect(timeoutAt(600_000)).toBeGreaterThan(600_000);
});

it('the gateway bounds the connections, with room for thousands of idle or slow ones', () => {
  const url = 'http://localhost:1';
  const required = { ACCOUNTS_URL: url, ORDERS_URL: url, CATALOGUE_URL: url, JWKS_URL: url };
  const { maximumConnections } = readEnvironment({ ...required, JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'shop' });
  expect(maximumConnections).toBeGreaterThanOrEqual(7_000);
  expect(maximumConnections).toBeLessThan(15_000); // About where an idle process would pass 384 MiB.
});

it('the gateway needs no more memory than the bytes of a body that arrives byte by byte', async () => {
  gateway = await startGateway();
  const { port, process: child } = gateway;
  const status = () => readFile(`/proc/${child.pid}/status`, 'utf8');
  const before = Number(/VmRSS:\s+(\d+)/.exec(await status())?.[1]);
  const body = `${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`;
  const head = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n';
  const answers = Array.from({ length: 5 }, async () => {
    const socket = await open(port);
    socket.write(head + body);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  });
  await Promise.all(answers);
  const most = Number(/VmHWM:\s+(\d+)/.exec(await status())?.[1]);
  expect((most - before) / 1024).toBeLessThan(100); // MB; a buffer for each of the bytes takes three times as much
});
