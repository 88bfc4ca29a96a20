// A service's server over raw sockets: its limits, and problem documents for bytes that are not a request.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import express from 'express';
import { serve } from '../../src/http/index.ts';
import { createHealth, type ProcessLife } from '../../src/runtime/index.ts';
import { log } from '../events/brokers.ts';

let server: Awaited<ReturnType<typeof startServer>>;
const app = express();
app.post('/unfinished', async (_request, response) => {
  response.write('half');
  await once(response, 'close');
  response.end();
});
app.use((request, response) => {
  request.resume();
  request.once('end', () => response.end('done'));
});

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function startServer() {
  let stop = (): Promise<void> | void => {};
  const life: ProcessLife = {
    log,
    onStop: (_label, work) => {
      stop = work;
    },
    fail: () => {},
  };
  const port = await serve(app, { host: '127.0.0.1', port: 0, drain: 0, health: createHealth(), life });
  return { port, stop: () => stop() };
}

async function send(...pieces: string[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const answer = text(socket);
  for (const piece of pieces) {
    socket.write(piece);
    await setTimeout(50);
  }
  return answer;
}

const get = (target: string, fields: string) => `GET ${target} HTTP/1.1\r\nHost: shop\r\n${fields}\r\n`;

it('a service accepts every request that a gateway may forward', async () => {
  const fields = `A: ${'a'.repeat(65_536)}\r\nConnection: close\r\n`;
  expect(await send(get(`/${'b'.repeat(65_536)}`, fields))).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

it.each([
  ['what is no HTTP', ['NONSENSE\r\n\r\n'], 400, 'invalid-request'],
  ['a header section that is too large', [get('/', `A: ${'a'.repeat(200_000)}\r\n`)], 431, 'header-fields-too-large'],
  [
    'a body whose framing breaks',
    ['POST / HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n', 'x\r\n'],
    400,
    'invalid-request',
  ],
  ['what comes behind an answer', [get('/', ''), 'NONSENSE\r\n\r\n'], 400, 'invalid-request'],
])('a request with %s gets a problem document', async (_name, pieces, status, code) => {
  const [, head = '', body = ''] = /(HTTP\/1\.1 [45][\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(await send(...pieces)) ?? [];
  expect(head).toContain('Content-Type: application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ status, code });
  expect(head).toContain(`X-Request-Id: ${JSON.parse(body).instance.replace(/.*:/, '')}`);
});

it('a response that has begun is aborted, and no other data is written into it', async () => {
  const answer = await send('POST /unfinished HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n', 'x\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).not.toContain('problem');
});

it.each([
  ['a header section', 'GET / HTTP/1.1\r\n'],
  ['a body', 'POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 2\r\n\r\nx'],
])(
  'a peer that has sent only a part of %s does not prevent the stop',
  async (_name, part) => {
    const { port, stop } = await startServer();
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(part);
    await setTimeout(100);
    const closed = once(socket, 'close');
    await Promise.all([stop(), closed]);
  },
  30_000,
);
