// An upstream that does not start or does not continue its response is abandoned after the configured times.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { configWith, startGateway, type TestGateway } from '../start-gateway.ts';

// Milliseconds. The times are long enough for a machine that is busy with other tests: a large response is delayed by
// every pause of this process, which sends and reads it.
const headersTimeout = 1_500;
const bodyTimeout = 4_000;

/** The deadline of a request. A slow machine answers long before it, too. */
const deadline = 60_000;

let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  const times = `connections: 1, headersTimeout: ${headersTimeout}, bodyTimeout: ${bodyTimeout}`;
  await configWith(folder, '{ serviceEndpoint: catalogue }', `{ serviceEndpoint: catalogue, ${times} }`);
  gateway = await startGateway({
    GATEWAY_CONFIG_DIR: folder,
    BODY_LIMIT: String(1 << 20),
    REQUEST_TIMEOUT_MS: String(deadline),
  });
});
afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true });
});

/** Answers in time, but later than the wait that precedes it in these tests. */
const inTime: RequestListener = async (_request, response) => {
  await setTimeout(0.4 * headersTimeout);
  response.end('{}');
};

/** Sends a response in pieces, each after a pause. */
function inPieces(pieces: readonly string[], pause: number): RequestListener {
  return async (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    for (const piece of pieces) {
      response.write(piece);
      await setTimeout(pause);
    }
    response.end();
  };
}

it('the gateway returns 504 long before the deadline when the upstream does not start its response', async () => {
  gateway.service.answer = () => {};
  const began = performance.now();
  expect(await gateway.client.get('/v1/products/1')).toMatchObject({ status: 504, body: { code: 'gateway-timeout' } });
  const took = performance.now() - began;
  expect(took).toBeGreaterThan(headersTimeout - 50);
  expect(took).toBeLessThan(deadline / 2);
});

it('the gateway starts the time of the upstream at the end of a streamed body', async () => {
  gateway.service.answer = inTime;
  const piece = Buffer.alloc(100 * 1_024, ' ');
  const head = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nConnection: close';
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(`${head}\r\nContent-Length: ${3 * piece.length}\r\n\r\n`);
  for (const pause of [0.4, 0.4, 0]) {
    socket.write(piece);
    await setTimeout(pause * headersTimeout);
  }
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

it('the gateway starts the time of the upstream after the wait for a connection', async () => {
  gateway.service.answer = inTime;
  const answers = await Promise.all([1, 2, 3].map((id) => gateway.client.get(`/v1/products/${id}`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

it('the gateway truncates a response that stops, and closes the connection to the upstream', async () => {
  const left: Promise<unknown>[] = [];
  gateway.service.answer = (_request, response) => {
    left.push(once(response, 'close'));
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"half":');
  };
  const began = performance.now();
  await expect(fetch(`${gateway.url}/v1/products/1`).then((answer) => answer.text())).rejects.toThrow();
  expect(performance.now() - began).toBeGreaterThan(bodyTimeout - 50);
  await left[0];
});

it('the gateway forwards a response that is longer than any time-out but continues in time', async () => {
  gateway.service.answer = inPieces(['{', ' ', ' ', ' ', '"a"', ':', '1', ' ', '}'], bodyTimeout / 4);
  const began = performance.now();
  expect(await gateway.client.get('/v1/products/1')).toMatchObject({ status: 200, body: { a: 1 } });
  expect(performance.now() - began).toBeGreaterThan(2 * bodyTimeout);
});

it('the gateway does not abandon an upstream while the client does not read', async () => {
  const answer = Buffer.alloc(40 << 20, 'x');
  gateway.service.answer = (_request, response) => void response.end(answer);
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write('GET /v1/products/1 HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n');
  socket.pause();
  await setTimeout(2 * bodyTimeout);
  let read = 0;
  socket.on('data', (piece) => {
    read += piece.length;
  });
  socket.resume();
  await once(socket, 'end');
  expect(read).toBeGreaterThan(answer.length);
});

/**
 * Stops the gateway process when the service has started its response, and resumes it after the whole response has
 * arrived.
 */
function whileGatewayStands(answer: RequestListener): RequestListener {
  return async (request, response) => {
    await setTimeout(50);
    gateway.process.kill('SIGSTOP');
    try {
      await answer(request, response);
      await setTimeout(1.5 * bodyTimeout);
    } finally {
      gateway.process.kill('SIGCONT');
    }
  };
}

it('the gateway forwards a response that arrived while the gateway process was stopped', async () => {
  gateway.service.answer = whileGatewayStands(inTime);
  expect(await gateway.client.get('/v1/products/1')).toMatchObject({ status: 200 });
});

it('the gateway forwards the rest of a response that arrived while the gateway process was stopped', async () => {
  const rest = whileGatewayStands((_request, response) => void response.end('"a":1}'));
  gateway.service.answer = (request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{');
    return rest(request, response);
  };
  expect(await gateway.client.get('/v1/products/1')).toMatchObject({ status: 200, body: { a: 1 } });
});
