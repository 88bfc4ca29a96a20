// A request line that names another protocol than HTTP is refused, in whatever pieces it arrives.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.service.seen.length = 0;
});

const get = (protocol: string) => `GET /v1/products ${protocol}\r\nHost: shop\r\n\r\n`;
const post = (length: number) => `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: ${length}\r\n\r\n`;

/** Sends the pieces one by one. @returns all bytes that the gateway sends until it ends the connection */
async function sendPieces(pieces: readonly string[]): Promise<string> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  const end = once(socket, 'close');
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    await setTimeout(20);
  }
  await end;
  return received;
}

it.each([
  get('RTSP/1.0'),
  get('RTSP/1.1'),
  'GET   /v1/products   RTSP/1.0\r\nHost: shop\r\n\r\n',
  'GET /v1/products RTSP/1.0\nHost: shop\r\n\r\n',
  `\r\n\r\n${get('RTSP/1.0')}`,
  'OPTIONS /v1/products RTSP/1.0\r\nHost: shop\r\n\r\n',
  'POST /v1/products/search RTSP/1.0\r\nHost: shop\r\nContent-Length: 2\r\n\r\n{}',
  'DESCRIBE /v1/products RTSP/1.0\r\nHost: shop\r\n\r\n',
  'SOURCE /v1/products ICE/1.0\r\nHost: shop\r\n\r\n',
])('answers 400 to %j', async (bytes) => {
  const { answers, closed } = await sendRaw(gateway.port, bytes);
  expect([answers.map(({ status }) => status), closed]).toEqual([[400], true]);
  expect(answers[0]?.headers).toMatchObject({ 'content-type': 'application/problem+json', connection: 'close' });
  expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ code: 'invalid-request' });
  expect(gateway.service.seen).toEqual([]);
});

it('answers 400 wherever the request line is split', async () => {
  const line = get('RTSP/1.0');
  const ends = Array.from({ length: line.indexOf('\n') + 1 }, (_, index) => index + 1);
  const answers = await Promise.all([
    ...ends.map((end) => sendPieces([line.slice(0, end), line.slice(end)])),
    sendPieces([...line]),
  ]);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(gateway.service.seen).toEqual([]);
});

it.each([
  ['a request', get('HTTP/1.1')],
  ['a body', `${post(2)}{}`],
  ['a body that is no JSON', `${post(3)} RT`],
])('answers 400 after %s, in the same piece or after the response', async (_name, ahead) => {
  for (const pieces of [[ahead + get('RTSP/1.0')], [ahead, get('RTSP/1.0')]]) {
    const answer = await sendPieces(pieces);
    expect(answer).toMatch(/HTTP\/1\.1 400 [\s\S]*"code":"invalid-request"/);
    expect(answer).toMatch(/Connection: close/);
  }
  expect(gateway.service.seen.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(1);
});

it('allows the names everywhere else', async () => {
  const body = JSON.stringify({ text: 'a camera with RTSP/1.0 and ICE/1.0' });
  const { answers } = await sendRaw(gateway.port, post(body.length) + body + get('HTTP/1.1'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const fields = 'Host: shop\r\nUser-Agent: Player RTSP/1.0 (ICE/1.0)\r\n';
  const named = await sendRaw(gateway.port, `GET /v1/products?name=RTSP/1.0 HTTP/1.1\r\n${fields}\r\n`);
  expect(named.answers).toMatchObject([{ status: 200 }]);
  const source = await sendRaw(gateway.port, 'SOURCE /v1/orders HTTP/1.1\r\nHost: shop\r\n\r\n');
  expect(source.answers).toMatchObject([{ status: 405, headers: { allow: 'GET, HEAD, OPTIONS, POST' } }]);
});
