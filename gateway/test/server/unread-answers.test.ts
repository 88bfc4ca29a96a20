// A client that does not read its responses keeps only its own connection, never one to a service.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { configWith, startGateway, type TestGateway } from '../start-gateway.ts';

/**
 * The response is smaller than the gateway's buffer for one client. Several of them exceed the buffers between the
 * gateway and the client.
 */
const answer = Buffer.alloc(240 * 1_024, 'x');
const asked = 100;

let folder: string | undefined;
let gateway: TestGateway | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.stop();
  gateway = undefined;
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: shop\r\n\r\n`;

/** Connects and sends, but does not read. */
async function open(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

it('the gateway releases the only connection to the service for other clients', async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  await configWith(folder, '{ serviceEndpoint: catalogue }', '{ serviceEndpoint: catalogue, connections: 1 }');
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder });
  const { service, client, port } = gateway;
  service.answer = (_request, response) => void response.end(answer);

  await open(port, get('/v1/products/1').repeat(asked));
  // Sends requests until the buffers between the gateway and this client are full.
  for (let before = -1; before !== service.seen.length || before === 0; await setTimeout(1_000))
    before = service.seen.length;
  expect(service.seen.length).toBeLessThan(asked);

  service.answer = (_request, response) => void response.end('{}');
  expect(await client.get('/v1/products/2')).toMatchObject({ status: 200 });
});

it('the gateway disconnects a client that reads nothing for 30 s, even when it sends; a slow reader stays connected', async () => {
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: fileURLToPath(new URL('../../config', import.meta.url)) });
  const { service, port, output } = gateway;
  const list = get('/v1/products');
  service.answer = (_request, response) => void response.end(Buffer.alloc(40 << 20, 'x'));
  const silent = await Promise.all([
    open(port, list),
    open(port, list.repeat(50)),
    open(port, get('/v1/openapi.json').repeat(90)),
  ]);
  const sending = await Promise.all([
    open(port, list),
    open(port, list.replace('shop\r\n', 'shop\r\nConnection: close\r\n')),
    open(port, `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 100\r\n\r\n${' '.repeat(100)}`),
  ]);
  const reader = await open(port, list);
  const ticks = setInterval(() => {
    for (const socket of sending) if (socket.writable) socket.write('G');
    reader.read(200_000);
  }, 1_000);
  try {
    await eventually(() => {
      const closed = [...output().matchAll(/"closed":(\d+)/g)].map(([, count]) => Number(count));
      expect(closed.reduce((sum, count) => sum + count, 0)).toBe(silent.length + sending.length);
    }, 60_000);
    // The client first reads the buffered bytes. Then the connection ends before the response is complete.
    for (const socket of [...silent, ...sending]) socket.resume();
    await eventually(() => expect([...silent, ...sending].filter(({ destroyed }) => !destroyed)).toEqual([]));
    expect(reader.readableEnded || reader.destroyed).toBe(false);
  } finally {
    clearInterval(ticks);
  }
});

it('the gateway disconnects a client that pipelines too many bytes before they fill the memory', async () => {
  gateway = await startGateway({ TRUSTED_PROXIES: '1' });
  const { service, port, process: child } = gateway;
  service.answer = () => {};
  const length = 30_000;
  const post =
    `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: ${length}\r\n\r\n` + `${'x'.repeat(length)}`;
  const resident = async () =>
    Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_024;
  const before = await resident();
  const clients = await Promise.all(Array.from({ length: 50 }, () => open(port, post.repeat(90))));
  for (const client of clients) client.resume();
  await eventually(() => expect(clients.filter(({ destroyed }) => !destroyed).length).toBe(0), 8_000);
  // All clients together have sent up to 135 MB.
  expect((await resident()) - before).toBeLessThan(70);
  expect(service.seen.length).toBeLessThanOrEqual(clients.length);
});
