// Idle connections and slow senders: their cost for the gateway and for other clients.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { canRun } from './can-run.ts';

/** Milliseconds to wait after thousands of connections were opened or closed. */
const settling = 1_000;

/** Opens connections that send one request and stay open until the returned function is called. */
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
 * Starts another process that only reads from the slow senders. The latency that remains is their effect on the load,
 * with which they share a core.
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

/** Starts slow senders that send until the returned function is called. */
export async function openSlow(port: number, count: number): Promise<() => Promise<void>> {
  const senders = forkIdle('slow-senders.ts', String(port), String(count));
  await once(senders, 'message');
  return async () => {
    senders.kill();
    await once(senders, 'exit');
    await pause(settling);
  };
}

/**
 * Forks with idle priority where possible, so that the process does not slow down the load and the service on its core.
 */
function forkIdle(file: string, ...args: string[]): ChildProcess {
  const how = canIdle ? { execPath: 'chrt', execArgv: ['--idle', '0', process.execPath] } : {};
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, how);
}

const canIdle = canRun('chrt', '--idle', '0', 'true');
