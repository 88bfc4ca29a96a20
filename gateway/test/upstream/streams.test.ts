// Event streams through the gateway: they last until the client, the service or the gateway ends them.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const config = fileURLToPath(new URL('../../config', import.meta.url));
/** As `streamsPerAddress` of the configuration says. */
const allowed = 200;

let gateway: TestGateway | undefined;
/** The streams that the service has open. */
const open = new Set<ServerResponse>();
const clients: AbortController[] = [];
/** A response that nobody has any more is closed when its memory is freed. */
const responses: Response[] = [];
beforeEach(() => open.clear());
afterEach(async () => {
  for (const client of clients.splice(0)) client.abort();
  responses.length = 0;
  await gateway?.stop();
  gateway = undefined;
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<TestGateway> {
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: config, ...environment });
  gateway.service.answer = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    response.write('retry: 1000\n\n');
    open.add(response);
    response.on('close', () => open.delete(response));
  };
  return gateway;
}

async function follow(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const client = new AbortController();
  clients.push(client);
  const response = await fetch(`${url}/v1/changes/live`, { headers, signal: client.signal });
  responses.push(response);
  return response;
}

function readerOf({ body }: Response): () => Promise<string | undefined> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  return async () => {
    const { value } = await reader.read();
    return value && Buffer.from(value).toString();
  };
}

it('each event of a stream is sent at once and uncompressed, longer than a request may take and after long silence', async () => {
  const { url } = await start({ REQUEST_TIMEOUT_MS: '500' });
  const response = await follow(url, { 'Accept-Encoding': 'gzip, br, zstd' });
  expect(response.headers.get('content-encoding')).toBeNull();
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const read = readerOf(response);
  expect(await read()).toBe('retry: 1000\n\n');
  // The default of `bodyTimeout` is 10 s, and a service is silent for 15 s.
  await sleep(16_000);
  for (const id of [1, 2]) {
    for (const upstream of open) upstream.write(`id: ${id}\n\n`);
    expect(await read()).toBe(`id: ${id}\n\n`);
  }
});

it('a client that leaves frees its connection to the service at once', async () => {
  const { url } = await start();
  await follow(url);
  await eventually(() => expect(open.size).toBe(1));
  clients.pop()?.abort();
  await eventually(() => expect(open.size).toBe(0));
});

it('streams end without an error when the gateway stops, also those that are opened before its port closes', async () => {
  const { url, process: child } = await start({ DRAIN_MS: '2500' });
  const early = await follow(url);
  child.kill('SIGTERM');
  expect(await early.text()).toBe('retry: 1000\n\n');
  const late = await follow(url);
  expect(await late.text()).toBe('retry: 1000\n\n');
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
  expect(code).toBe(0);
});

it('a gateway that stops disconnects a client that does not read its stream', async () => {
  const { port, process: child } = await start();
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write('GET /v1/changes/live HTTP/1.1\r\nHost: shop\r\n\r\n');
  await eventually(() => expect(open.size).toBe(1));
  const [upstream] = [...open] as [ServerResponse];
  const event = `data: ${'x'.repeat(64 * 1_024)}\n\n`;
  // Until the gateway reads no more from the service.
  while (upstream.write(event)) await sleep(1);
  for (let buffered = -1; buffered !== upstream.writableLength; await sleep(500)) {
    buffered = upstream.writableLength;
    upstream.write(event);
  }
  child.kill('SIGTERM');
  await eventually(() => expect(open.size).toBe(0), 5_000);
  socket.destroy();
});

it('one client address opens 200 streams; a further one is refused with 429 until one of them ends', async () => {
  const { url } = await start();
  // The rate of requests has a bound, too.
  await Promise.all(Array.from({ length: allowed / 2 }, () => follow(url)));
  await sleep(1_000);
  await Promise.all(Array.from({ length: allowed / 2 }, () => follow(url)));
  await eventually(() => expect(open.size).toBe(allowed));
  await sleep(1_000);
  const refused = await follow(url);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('60');
  expect(await refused.json()).toMatchObject({
    code: 'too-many-requests',
    detail: 'This address has 200 open streams; close one of them.',
  });
  // A long request is no stream.
  expect((await fetch(`${url}/v1/changes`)).status).toBe(200);
  for (const response of open) {
    response.end();
    break;
  }
  await eventually(async () => {
    const response = await follow(url);
    expect(response.status).toBe(200);
  });
});

it('a stream counts as the success of its service when it begins, so that a trial of an unavailable service ends', async () => {
  const { url, service } = await start();
  const stream = service.answer;
  service.answer = (request) => void request.socket.destroy();
  const ask = async (): Promise<number> => (await fetch(`${url}/v1/changes`)).status;
  for (let asked = 0; asked < 60; asked += 1) await ask();
  expect(await ask()).toBe(503);
  service.answer = (request, response) => {
    if (request.url === '/v1/changes/live') void stream(request, response);
    else response.end('{}');
  };
  await eventually(async () => expect((await follow(url)).status).toBe(200));
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
  expect(open.size).toBe(1);
});
