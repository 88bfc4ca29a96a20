// deploy/proxy/haproxy.cfg with HAProxy itself, without containers: what it does with idle, slow and silent clients.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { eventually, plainEnvironment, slowness } from '@shop/shared/testing';
import { startGateway } from '../../../gateway/test/start-gateway.ts';
import { freePorts } from '../../../shared/src/embedded/free-ports.ts';
import { findProgram } from '../../faults/clusters/programs.ts';

const path = fileURLToPath(new URL('../../../deploy/proxy/haproxy.cfg', import.meta.url));
const limit = 3;

/** Runs `use` with the port of a proxy, which has the gateway at `gatewayPort`, or none. */
async function withProxy(
  environment: Readonly<Record<string, string>>,
  use: (port: number) => Promise<void>,
  gatewayPort = 0,
): Promise<void> {
  const [port = 0] = await freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), 'shop-proxy-'));
  const file = join(folder, 'haproxy.cfg');
  const configuration = (await readFile(path, 'utf8')).replace('bind :8080', `bind 127.0.0.1:${port}`);
  const withGateway = configuration
    .replaceAll(' resolvers docker resolve-prefer ipv4 init-addr none', '')
    .replaceAll('server-template gateway 10 gateway:8080', `server gateway 127.0.0.1:${gatewayPort}`);
  await writeFile(file, gatewayPort === 0 ? configuration : withGateway);
  const env = { ...plainEnvironment(), TRUSTED_PROXIES: '', CONNECTION_LIMIT: '100', ...environment };
  const haproxy = spawn(await findProgram('haproxy'), ['-db', '-f', file], { env, stdio: 'ignore' });
  const exit = once(haproxy, 'exit');
  try {
    await use(port);
  } finally {
    haproxy.kill('SIGKILL');
    await exit;
    await rm(folder, { recursive: true });
  }
}

/** Waits until the connection is open or was refused. The proxy may reset it before it is open. */
async function open(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

it.each([
  ['limits the connections of one address', '', 1],
  ['limits no connections of the proxies in front of it', '1', 0],
])('the proxy %s', async (_, trustedProxies, closed) => {
  const environment = { TRUSTED_PROXIES: trustedProxies, CONNECTION_LIMIT_PER_ADDRESS: String(limit) };
  await withProxy(environment, async (port) => {
    await eventually(async () => {
      const socket = await open(port);
      expect(socket.destroyed).toBe(false);
      socket.destroy();
    });
    // The connection of the check has ended.
    await sleep(500);
    const sockets: Socket[] = [];
    for (let number = 0; number <= limit; number += 1) sockets.push(await open(port));
    try {
      await sleep(500);
      expect(sockets.filter((socket) => socket.readableEnded || socket.destroyed)).toHaveLength(closed);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

const get = 'GET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n';
const post = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 1000\r\n\r\n';

/** What the clients of one address do with their connections. Each is closed within this many seconds. */
const clients = [
  { does: 'sends nothing', sends: '', drips: false, reads: true, within: 30, last: '' },
  {
    does: 'sends a header section slowly',
    sends: get.slice(0, 39),
    drips: true,
    reads: true,
    within: 30,
    last: ' 408 ',
  },
  { does: 'sends a body slowly', sends: post, drips: true, reads: true, within: 30, last: ' 408 ' },
  { does: 'is idle after a response', sends: get, drips: false, reads: true, within: 70, last: ' 200 ' },
  { does: 'reads nothing', sends: get, drips: false, reads: false, within: 100, last: '' },
];

it('the proxy closes idle, slow and silent connections, and serves another address meanwhile', async () => {
  const each = 10;
  const gateway = await startGateway({ TRUSTED_PROXIES: '1' });
  const large = Buffer.alloc(8 << 20, 'x');
  gateway.service.answer = ({ headers }, response) =>
    void response.end(String(headers['user-agent']).startsWith('reads nothing') ? large : '{}');
  const environment = { CONNECTION_LIMIT: '1000', CONNECTION_LIMIT_PER_ADDRESS: String(clients.length * each) };
  const use = async (port: number): Promise<void> => {
    const ask = () => fetch(`http://127.0.0.1:${port}/health/live`, { headers: { Connection: 'close' } });
    await eventually(async () => expect((await ask()).status).toBe(200));
    const began = performance.now();
    const closed = clients.flatMap(({ does, sends, drips, reads, within, last }) =>
      Array.from({ length: each }, async () => {
        const socket = await open(port, '127.0.1.1');
        let received = '';
        socket.on('data', (data) => (received = data.toString('latin1').slice(0, 40)));
        if (!reads) socket.pause();
        socket.write(sends.replace('Host: shop', `Host: shop\r\nUser-Agent: ${does}`));
        const drip = setInterval(() => drips && socket.writable && socket.write('a'), 1_000);
        if (!reads) setTimeout(() => socket.resume(), (within - 10) * 1_000);
        await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
        clearInterval(drip);
        const seconds = (performance.now() - began) / 1_000;
        return seconds < within * slowness() && received.includes(last) ? [] : [`${does}: ${seconds} s, ${received}`];
      }),
    );
    // More connections of this address are closed immediately, and other addresses are served.
    const all = Promise.all(closed);
    let done = false;
    void all.finally(() => (done = true));
    const slow: number[] = [];
    while (!done) {
      const asked = performance.now();
      expect((await ask()).status).toBe(200);
      if (performance.now() - asked > 5_000 * slowness()) slow.push(performance.now() - asked);
      await sleep(100);
    }
    expect((await all).flat()).toEqual([]);
    expect(slow).toEqual([]);
  };
  try {
    await withProxy(environment, use, gateway.port);
  } finally {
    await gateway.stop();
  }
});

it('the proxy rejects a request line that names another protocol than HTTP', async () => {
  await withProxy({ CONNECTION_LIMIT_PER_ADDRESS: '10' }, async (port) => {
    await eventually(async () => expect((await open(port)).destroyed).toBe(false));
    const socket = await open(port);
    socket.write('GET /v1/products RTSP/1.0\r\nHost: shop\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.[01] 400 /);
    socket.destroy();
  });
});
