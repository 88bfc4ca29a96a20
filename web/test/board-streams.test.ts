// Clients of the board that leave early, or stop reading.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import type { Caller } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { BoardStreams } from '../src/board/board-streams.ts';

const caller = { accountId: newId() } as Caller;
let server: Server;
afterEach(() => void server.close().closeAllConnections());

/** Starts a server that answers each request with a stream, after `before`. */
async function start(draining: () => boolean, before: (response: ServerResponse) => Promise<unknown>) {
  const streams = new BoardStreams({ upstreams: () => new Map(), traffic: () => [], isValid: () => true, draining });
  const errors: unknown[] = [];
  const trace = { id: 'test', traceparent: '', path: '/board/events' };
  const admitted = { authenticated: true, caller, authorization: 'Bearer token' };
  server = createServer((request, response) => {
    response.on('error', (error) => errors.push(error));
    before(response)
      .then(() => {
        const { headers = [], stream } = streams.open(Object.assign(request, trace, admitted));
        response.writeHead(200, [...headers]);
        stream?.(response);
      })
      .catch((error: unknown) => {
        errors.push(error);
        response.writeHead(500).end();
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = () => {
    const socket = connect(port, '127.0.0.1')
      .pause()
      .on('error', () => {});
    socket.write('GET /board/events HTTP/1.1\r\nHost: shop\r\n\r\n');
    return socket;
  };
  return { ask, errors };
}

it('the board counts no stream of a client that has left before it is opened', async () => {
  let left = 0;
  const { ask, errors } = await start(
    () => false,
    async (response) => {
      if (left === 5) return;
      await once(response, 'close');
      left += 1;
    },
  );
  for (let client = 0; client < 5; client += 1) {
    const socket = ask();
    await once(socket, 'connect');
    await setTimeout(50);
    socket.destroy();
    await eventually(() => expect(left).toBe(client + 1));
  }
  const socket = ask().resume();
  const [text] = await once(socket, 'data');
  expect(String(text)).toMatch(/^HTTP\/1\.1 200 /);
  expect(errors).toEqual([]);
  socket.destroy();
});

it('the board ends the stream of a client that does not read', async () => {
  let draining = false;
  const responses: ServerResponse[] = [];
  const { ask, errors } = await start(
    () => draining,
    async (response) => {
      const { socket } = response;
      if (socket === null) throw new Error('the client has left');
      // Fills the buffers of the connection, so that further bytes stay in the process.
      while (socket.writableLength === 0) {
        socket.write(Buffer.alloc(16 * 1_024));
        await setTimeout(1);
      }
      responses.push(response);
    },
  );
  const socket = ask();
  await eventually(() => expect(responses[0]?.headersSent).toBe(true), 20_000);
  draining = true;
  await eventually(() => expect(responses[0]?.writableEnded).toBe(true));
  // Two further states would have been due.
  await setTimeout(4_500);
  expect(errors).toEqual([]);
  socket.destroy();
});
