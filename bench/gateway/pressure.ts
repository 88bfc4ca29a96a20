// Connections that idle and senders that crawl: what they cost the gateway, and the others.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { canRun } from './can-run.ts';

/** Milliseconds after thousands of connections were opened or closed. */
const settling = 1_000;

/** Connections that have asked once and stay open, until the function returned is called. */
export async function openIdle(port: number, count: number): Promise<() => Promise<void>> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const missing = Math.min(100, count - sockets.length);
    sockets.push(...Array.from({ length: missing }, () => begin(port)));
    await pause(50);
  }
  await pause(settling);
  return async () => {
    for (const socket of sockets) socket.destroy();
    await pause(settling);
  };
}

function begin(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write('GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n');
  return socket;
}

/**
 * Somebody else for the slow senders to send to, who only reads. What they do to the others even so, they do to the load, which
 * shares a core with them.
 */
export async function openElsewhere(): Promise<{ port: number; close: () => Promise<void> }> {
  const reader = forkIdle('elsewhere.ts');
  const [port] = (await once(reader, 'message')) as [number];
  return {
    port,
    async close() {
      reader.kill();
      await once(reader, 'exit');
    },
  };
}

/** Slow senders, until the function returned is called. */
export async function openSlow(port: number, count: number): Promise<() => Promise<void>> {
  const senders = forkIdle('slow-senders.ts', String(port), String(count));
  await once(senders, 'message');
  return async () => {
    senders.kill();
    await once(senders, 'exit');
    await pause(settling);
  };
}

/** Where it can, to run when the load and the service leave their core idle: what it does to these says nothing of the gateway. */
function forkIdle(file: string, ...args: string[]): ChildProcess {
  const how = canIdle ? { execPath: 'chrt', execArgv: ['--idle', '0', process.execPath] } : {};
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, how);
}

const canIdle = canRun('chrt', '--idle', '0', 'true');
