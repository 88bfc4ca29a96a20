// Clients whose request is complete shortly before its deadline: the delay does not count against the service.
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

/**
 * Sends a body of `length` bytes. The last byte follows after `pause` ms.
 * @returns the status of the response
 */
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
])('a body %s that leaves the service no time does not count as a failure of the service', async (_name, length) => {
  // The service is always too slow, and every request leaves it less than a second.
  gateway.service.answer = (_request, response) => void setTimeout(900).then(() => response.end('{}'));
  // When the machine pauses meanwhile, the requests are too late to be forwarded.
  const statuses: number[] = [];
  const late = () => statuses.filter((status) => status === 504).length;
  for (let round = 0; round < 3 && late() < 15; round += 1)
    statuses.push(...(await Promise.all(Array.from({ length: 30 }, () => sendLate(length, 2_500)))));
  expect(late()).toBeGreaterThanOrEqual(15);
  expect(await gateway.client.post('/v1/products/search', { body: {} })).toMatchObject({ status: 200 });
  expect(gateway.output()).not.toContain('most requests to the address fail');
});

it('the gateway returns 408 for a body that arrives after the deadline, and does not call the service', async () => {
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

it('the gateway counts a missing response against a service that had enough time', async () => {
  gateway.service.answer = () => {};
  const ask = (id: number) => sendRaw(gateway.port, `GET /v1/products/${id} HTTP/1.1\r\nHost: shop\r\n\r\n`, 6_000);
  await Promise.all(Array.from({ length: 20 }, (_, id) => ask(id)));
  expect(gateway.output()).toContain('most requests to the address fail');
});
