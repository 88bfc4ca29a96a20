// Clients that are nearly out of time when their request is complete: theirs is the delay, not the service's.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ REQUEST_TIMEOUT_MS: '3000', BODY_LIMIT: String(1 << 20) });
});
afterAll(() => gateway.stop());

/** Sends a body of `length` bytes, the last of them after `pause` ms. @returns the status of the answer */
async function sendLate(length: number, pause: number): Promise<number> {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  const answer = text(socket).catch(() => '');
  await once(socket, 'connect');
  const head = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nConnection: close';
  socket.write(`${head}\r\nContent-Length: ${length}\r\n\r\n${' '.repeat(length - 1)}`);
  await setTimeout(pause);
  socket.write(' ');
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(await answer)?.[1]);
}

it.each([
  ['taken in whole', 10],
  ['that streams', 200 * 1_024],
])('a body %s whose end leaves the service no time says nothing about the service', async (_name, length) => {
  // A service that is never fast enough, asked by whoever leaves it less than a second.
  gateway.service.answer = (_request, response) => void setTimeout(900).then(() => response.end('{}'));
  // Where the machine stands still meanwhile, they are too late to be asked about at all.
  const statuses: number[] = [];
  const late = () => statuses.filter((status) => status === 504).length;
  for (let round = 0; round < 3 && late() < 5; round += 1)
    statuses.push(...(await Promise.all(Array.from({ length: 30 }, () => sendLate(length, 2_500)))));
  expect(late()).toBeGreaterThanOrEqual(5);
  expect(await gateway.client.post('/v1/products/search', { body: {} })).toMatchObject({ status: 200 });
  expect(gateway.output()).not.toContain('address ejected');
});

it('a body that comes when the time is over is a 408, and no service hears of it', async () => {
  const short = await startGateway({ REQUEST_TIMEOUT_MS: '300' });
  try {
    const head = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 2\r\n\r\n{';
    const socket = connect(short.port, '127.0.0.1').on('error', () => {});
    const [chunk] = await Promise.all([
      once(socket, 'data'),
      once(socket, 'connect').then(async () => {
        socket.write(head);
        await setTimeout(600);
        socket.write('}');
      }),
    ]);
    socket.destroy();
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 408 /);
    expect(String(chunk)).toContain('"code":"request-timeout"');
    expect(short.service.seen).toEqual([]);
  } finally {
    await short.stop();
  }
});

it('a service that has had its time and gives no answer is held to it', async () => {
  gateway.service.answer = () => {};
  const ask = (id: number) => sendRaw(gateway.port, `GET /v1/products/${id} HTTP/1.1\r\nHost: shop\r\n\r\n`, 6_000);
  await Promise.all(Array.from({ length: 5 }, (_, id) => ask(id)));
  expect(gateway.output()).toContain('address ejected');
});
