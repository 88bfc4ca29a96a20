// The sender frames the body of every request, so that a body is never read as the next request, and accepts only
// responses that are well-formed (RFC 9112).
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from '@jest/globals';
import { send } from './send.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.on('connection', (socket) => sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that answers each request with these bytes, each part in a packet of its own. */
function answering(parts: readonly string[], closes: boolean): Promise<string> {
  return listen(
    createTcpServer((socket) => {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('data', async () => {
        for (const part of parts) {
          socket.write(part, 'latin1');
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        if (closes) socket.end();
      });
    }),
  );
}

const get = { method: 'GET', target: '/', headers: {}, body: undefined, chunked: false };

it.each(['GET', 'DELETE', 'OPTIONS', 'POST'])(
  'the raw client sends the chunked body of a %s request as its body',
  async (method) => {
    const url = await listen(
      createServer((request, response) => {
        request.toArray().then((parts) => response.end(Buffer.concat(parts)), response.destroy);
      }),
    );
    const sent = {
      method,
      target: '/',
      headers: { Connection: 'close' },
      body: Buffer.from('some bytes'),
      chunked: true,
    };
    expect(await send(url, sent)).toMatchObject({ status: 200, text: 'some bytes' });
    expect(await send(url, { ...sent, chunked: false })).toMatchObject({ status: 200, text: 'some bytes' });
  },
);

it.each<[string, string[], string, number, string]>([
  ['a body with a length', ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'], 'GET', 200, 'ok'],
  ['bytes that arrive one after the other', [...'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'], 'GET', 200, 'ok'],
  [
    'chunks',
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r', '\n1\r\nk\r\n0\r\n\r\n'],
    'GET',
    200,
    'ok',
  ],
  ['an interim response', ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'], 'POST', 204, ''],
  ['a response to HEAD', ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'], 'HEAD', 200, ''],
])('the raw client reads %s', async (_, parts, method, status, text) => {
  expect(await send(await answering(parts, false), { ...get, method })).toMatchObject({ status, text });
});

it('the raw client reads a compressed body', async () => {
  const url = await listen(
    createServer((_, response) => void response.setHeader('Content-Encoding', 'gzip').end(gzipSync('ok'))),
  );
  expect(await send(url, get)).toMatchObject({ status: 200, text: 'ok' });
});

it('the raw client reads a body that the end of the connection ends', async () => {
  const url = await answering(['HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n\r\n', 'ok'], true);
  expect(await send(url, get)).toEqual({ status: 200, headers: { a: '1, 2' }, text: 'ok' });
});

it.each<[string, string, RegExp]>([
  ['no response', '', /closed/],
  ['half a head', 'HTTP/1.1 200 OK\r\n', /ended within/],
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok', /ended within/],
  ['half a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok', /ended within/],
  ['no status', 'HTTP/1.1 OK\r\n\r\n', /first line/],
  ['a line without a name', 'HTTP/1.1 200 OK\r\n: 1\r\n\r\n', /header field/],
  ['a control character in a field', 'HTTP/1.1 200 OK\r\nA: \0\r\n\r\n', /header field/],
  ['two framings', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n', /beside/],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', /Content-Length/],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n', /Content-Length/],
  ['another coding of the content', 'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nok', /br/],
  ['a body that is not compressed', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok', /./],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n', /Transfer-Encoding/],
  ['a size that is no number', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n', /size/],
  ['a chunk that is too long', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nok\r\n', /no end/],
  ['bytes after the response', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok', /follow the response/],
  ['the body of a response without one', 'HTTP/1.1 304 Not Modified\r\n\r\nok', /follow the response/],
])('the raw client rejects %s', async (_, text, message) => {
  await expect(send(await answering([text], true), get)).rejects.toThrow(message);
});

it('the raw client rejects the next response when bytes follow a response later', async () => {
  const url = await answering(['HTTP/1.1 204 No Content\r\n\r\n', 'late'], false);
  await send(url, get);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect(send(url, get)).rejects.toThrow('4 bytes without a request: late');
});

it('the raw client waits only as long as the test specifies', async () => {
  await expect(send(await answering([], false), get, 50)).rejects.toThrow('no response in time');
});
