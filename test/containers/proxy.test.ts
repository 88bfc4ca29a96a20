// deploy/proxy/haproxy.cfg with HAProxy itself, without containers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { freePorts } from '../../shared/src/embedded/free-ports.ts';
import { findProgram } from '../clusters/programs.ts';

const path = fileURLToPath(new URL('../../deploy/proxy/haproxy.cfg', import.meta.url));
const limit = 3;

/** Runs `use` with the port of a proxy that has no gateways. */
async function withProxy(trustedProxies: string, use: (port: number) => Promise<void>): Promise<void> {
  const [port = 0] = await freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), 'shop-proxy-'));
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, (await readFile(path, 'utf8')).replace('bind :8080', `bind 127.0.0.1:${port}`));
  const env = {
    ...plainEnvironment(),
    TRUSTED_PROXIES: trustedProxies,
    CONNECTION_LIMIT: '100',
    CONNECTION_LIMIT_PER_ADDRESS: String(limit),
  };
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
async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

it.each([
  ['limits the connections of one address', '', 1],
  ['limits no connections of the proxies in front of it', '1', 0],
])('%s', async (_, trustedProxies, closed) => {
  await withProxy(trustedProxies, async (port) => {
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
