// A refused request is not executed afterwards, and it gets exactly one response.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { createGatewayServer } from '../../src/server/server.ts';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
const large = 200 * 1_024;
beforeAll(async () => {
  gateway = await startGateway({ REQUEST_TIMEOUT_MS: '30000', BODY_LIMIT: String(2 * large) });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.service.seen.length = 0;
});

interface Listening extends Socket {
  received: string;
}

async function send(bytes: string): Promise<Listening> {
  const socket = Object.assign(connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true }), {
    received: '',
  }) as Listening;
  socket.on('error', () => {});
  socket.on('data', (data) => {
    socket.received += data.toString('latin1');
  });
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  return socket;
}

const post = (path: string, framing: string): string => `POST ${path} HTTP/1.1\r\nHost: shop\r\n${framing}\r\n\r\n`;

it('the gateway does not execute a late request when the rest of its body arrives after the error response', async () => {
  const search = '/v1/products/search';
  const late = [
    [post(search, 'Content-Length: 10'), '12345', '67890'],
    [post(search, 'Transfer-Encoding: chunked'), '5\r\n12345\r\n', '0\r\n\r\n'],
    // A body of this size is streamed to the service.
    [post(search, `Content-Length: ${large}`), 'x'.repeat(large - 1), 'x'],
  ] as const;
  const finish = async ([head, part, rest]: (typeof late)[number]): Promise<void> => {
    const socket = await send(head + part);
    await eventually(() => expect(socket.received).toMatch(/^HTTP\/1\.1 408 /), 15_000);
    socket.end(rest);
    await once(socket, 'close');
  };
  await Promise.all(late.map(finish));
  // If the gateway had forwarded the rest, the service would have received it before this request.
  expect(await gateway.client.get('/v1/products')).toMatchObject({ status: 200 });
  await setTimeout(200);
  expect(gateway.service.seen.map(({ method }) => method)).toEqual(['GET']);
});

it('the gateway sends one response to a request whose last bytes arrive together with its error response', async () => {
  const limits = {
    trustedProxies: 0,
    maximumBody: 10,
    maximumTarget: 8192,
    maximumHeader: 16384,
    maximumConnections: 100,
    deadline: 10_000,
  };
  const asked: string[] = [];
  const server = createGatewayServer(
    (request, response) => {
      asked.push(request.url ?? '');
      request.on('data', () => {
        // Node's timer expires just before the last bytes are read.
        const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
        server.emit('clientError', late, request.socket);
      });
      request.on('end', () => response.end('done'));
    },
    limits,
    createLog('test', 'silent'),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const next = 'GET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n';
    const { port } = server.address() as AddressInfo;
    const { answers, closed } = await sendRaw(port, `${post('/v1/orders', 'Content-Length: 4')}abcd${next}`);
    expect([answers.map(({ status }) => status), closed]).toEqual([[408], true]);
    expect(asked).toEqual(['/v1/orders']);
  } finally {
    server.close().closeAllConnections();
  }
});

it.each([
  [431, 'header fields', `GET /v1/products HTTP/1.1\r\nHost: shop\r\nCookie: ${'a=b; '.repeat(6_000)}\r\n\r\n`],
  [414, 'a target', `GET /v1/products?name=${'x'.repeat(30_000)} HTTP/1.1\r\nHost: shop\r\n\r\n`],
])('the gateway returns %i for %s that are too large, in one piece', async (status, _name, bytes) => {
  const { answers } = await sendRaw(gateway.port, bytes);
  expect(answers.map((answer) => answer.status)).toEqual([status]);
});

it('the gateway returns 431 for header fields that are too large and arrive in pieces', async () => {
  const socket = await send('GET /v1/products HTTP/1.1\r\nHost: shop\r\nCookie: ');
  for (let sent = 0; sent < 30_000 && socket.received === ''; sent += 1_460) {
    socket.write('x'.repeat(1_460));
    await setTimeout(5);
  }
  await eventually(() => expect(socket.received).toMatch(/^HTTP\/1\.1 431 /));
  socket.destroy();
});

it('the gateway receives the rest of an upload that the service rejects early, and sends the response', async () => {
  const token = await gateway.issuer.sign({ scopes: ['catalogue:write'] });
  const length = 300 * 1_024;
  const early = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method === 'POST') response.writeHead(415, { Connection: 'close' }).end('{}');
  };
  gateway.service.server.prependListener('request', early);
  try {
    const head = post('/v1/products/search', `Authorization: Bearer ${token}\r\nContent-Length: ${length}`);
    const socket = await send(`${head}${' '.repeat(length / 2)}`);
    await eventually(() => expect(socket.received).toMatch(/^HTTP\/1\.1 415 /));
    socket.write(' '.repeat(length / 2));
    socket.write('GET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n');
    await eventually(() => expect(socket.received).toMatch(/HTTP\/1\.1 415 .*HTTP\/1\.1 200 /s));
    socket.destroy();
  } finally {
    gateway.service.server.off('request', early);
  }
});

it('the gateway does not write an error response into the response to the same request', async () => {
  const early = ({ method }: IncomingMessage, response: ServerResponse): void => {
    if (method === 'POST') response.write('{"half":');
  };
  gateway.service.server.prependListener('request', early);
  try {
    const socket = await send(`${post('/v1/products/search', 'Transfer-Encoding: chunked')}5\r\n12345\r\n`);
    await eventually(() => expect(socket.received).toContain('half'));
    socket.write('ZZ\r\n');
    await eventually(() => expect(socket.readableEnded || socket.destroyed).toBe(true));
    socket.destroy();
    expect(socket.received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    // The client can tell that the response is truncated.
    expect(socket.received).not.toMatch(/\r\n0\r\n/);
  } finally {
    gateway.service.server.off('request', early);
  }
});

describe('a request that was answered before its body arrived', () => {
  it('a request that was answered before its body arrived gets no second response when the body is invalid', async () => {
    const socket = await send(post('/nowhere', 'Transfer-Encoding: chunked'));
    await eventually(() => expect(socket.received).toMatch(/^HTTP\/1\.1 404 /));
    socket.write('ZZ\r\n');
    await once(socket, 'end');
    socket.destroy();
    expect(socket.received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });
  it('a request that was answered before its body arrived leaves the connection open for the next request', async () => {
    const socket = await send(post('/nowhere', 'Content-Length: 4'));
    await eventually(() => expect(socket.received).toMatch(/^HTTP\/1\.1 404 /));
    socket.write('abcdGET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n');
    await eventually(() => expect(socket.received).toMatch(/HTTP\/1\.1 200 /s));
    socket.destroy();
  });
});

// Node discards the bytes that arrived in the same piece, and would continue in the middle of the next request.
it('the gateway closes the connection after a streamed body that exceeds its bound', async () => {
  const piece = `${large.toString(16)}\r\n${'x'.repeat(large)}\r\n`;
  const socket = await send(post('/v1/products/search', 'Transfer-Encoding: chunked') + piece.repeat(3));
  await once(socket, 'end');
  expect(socket.received).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n[\s\S]*"code":"content-too-large"/i);
  socket.destroy();
});

it('the gateway closes the connection after a request that asks for another protocol', async () => {
  const upgrade = 'GET /v1/products/1 HTTP/1.1\r\nHost: shop\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n';
  const next = 'GET /v1/products/2 HTTP/1.1\r\nHost: shop\r\n\r\n';
  const { answers, closed } = await sendRaw(gateway.port, upgrade + next + next.slice(0, 20));
  expect(answers).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
  expect(closed).toBe(true);
});
