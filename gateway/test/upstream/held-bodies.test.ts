// The common bound of all buffered bodies. Each released body makes room for another.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const length = 128 * 1_024;
/** This number of these bodies fills 56 MiB. The rest of the 64 MiB is reserved for small bodies. */
const fitting = 448;
const refused = 64;

let gateway: TestGateway;
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway({ TRUSTED_PROXIES: '1', BODY_LIMIT: String(length) });
});
afterAll(() => gateway.stop());
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Sending {
  readonly socket: Socket;
  answer: string;
}

/** Sends a request with this body, or a part of it, from a separate client address. */
async function send(address: number, framing: string, body: string): Promise<Sending> {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  const sending = { socket, answer: '' };
  socket.on('data', (data) => {
    sending.answer += String(data);
  });
  await once(socket, 'connect');
  const from = `X-Forwarded-For: 192.0.${address >> 8}.${address & 255}`;
  const head = `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\n${from}\r\n${framing}\r\n\r\n`;
  await new Promise((resolve) => socket.write(head + body, resolve));
  return sending;
}

async function sendMany(framing: string, body: string): Promise<Sending[]> {
  const all: Sending[] = [];
  for (let start = 0; start < fitting + refused; start += 64)
    all.push(...(await Promise.all(Array.from({ length: 64 }, (_, offset) => send(start + offset, framing, body)))));
  return all;
}

/** Sends all but the last byte of more bodies than fit. */
async function fill(): Promise<Sending[]> {
  const all = await sendMany(`Content-Length: ${length}`, 'x'.repeat(length - 1));
  await eventually(() => expect(all.filter(({ answer }) => answer !== '').length).toBeGreaterThanOrEqual(refused));
  return all;
}

async function fillAndFinish(): Promise<void> {
  const all = await fill();
  for (const { socket, answer } of all) if (answer === '') socket.write('x');
  await eventually(() => expect(all.every(({ answer }) => answer !== '')).toBe(true), 10_000);
  const statuses = all.map(({ answer }) => answer.slice(9, 12));
  expect(new Set(statuses)).toEqual(new Set(['200', '503']));
  for (const { answer } of all)
    if (answer.startsWith('HTTP/1.1 503')) expect(answer).toContain('\r\nRetry-After: 1\r\n');
}

it('the gateway rejects bodies past 64 MiB, and accepts others after the earlier requests ended in any way', async () => {
  await fillAndFinish();
  await fill();
  // Large bodies cannot use the share of the small ones.
  const logIn = { body: { email: 'ada@example.com', password: 'correct horse battery staple' } };
  expect(await gateway.client.post('/v1/tokens', logIn)).toMatchObject({ status: 200 });
  // A request without a body is not counted.
  expect(await gateway.client.get('/v1/products')).toMatchObject({ status: 200 });
  for (const socket of sockets.splice(0)) socket.destroy();
  const search = () => gateway.client.post('/v1/products/search', { body: {} });
  await eventually(async () => expect(await search()).toMatchObject({ status: 200 }));
  const larger = `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n1\r\nx\r\n`;
  const tooLarge = await sendMany('Transfer-Encoding: chunked', larger);
  await eventually(() => expect(tooLarge.every(({ answer }) => answer !== '')).toBe(true), 10_000);
  // Every body was released exactly once, because as many fit as before.
  expect(await search()).toMatchObject({ status: 200 });
  await fillAndFinish();
});

it('the gateway releases a body after its response, while the connection carries further requests', async () => {
  const resident = async (): Promise<number> => {
    const status = await readFile(`/proc/${gateway.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  };
  const before = await resident();
  const next = `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 10\r\n\r\nx`;
  for (let round = 0; round < 40; round += 1) {
    const answered = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        send(round * 50 + index, `Content-Length: ${length}`, 'x'.repeat(length) + next),
      ),
    );
    const statuses = () => answered.map(({ answer }) => answer.slice(9, 12));
    await eventually(() => expect(new Set(statuses())).toEqual(new Set(['200'])), 10_000);
  }
  // The growth in megabytes. The bodies alone would take 250 if they were not released.
  expect((await resident()) - before).toBeLessThan(180);
});
