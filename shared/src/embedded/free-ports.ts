// Finds free loopback ports.

import { createSocket } from 'node:dgram';
import { type EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';

// The ports are below the ephemeral ones (from 32768 on Linux, from 49152 elsewhere; RFC 6335 section 6), so that no
// outgoing connection takes a port before a process listens on it.
const first = 15_000;
const last = 31_999;

/**
 * Returns `count` different TCP ports that are free on 127.0.0.1. Until this process ends, no other call in any process
 * returns them, so two shops that start concurrently do not take each other's ports.
 * @throws Error when too few ports are free
 */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; found.length < count; attempt += 1) {
    if (attempt >= count + 1_000) throw new Error(`no free port from ${first} to ${last} was found on 127.0.0.1`);
    const port = first + Math.floor(Math.random() * (last - first + 1));
    if ((await reserve(port)) && (await isFree(port))) found.push(port);
  }
  return found;
}

/** Reserves the port by binding the UDP port of the same number. The system releases it when this process ends. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').on('error', () => {});
  socket.unref();
  socket.bind({ port, address: '127.0.0.1', exclusive: true });
  const reserved = await happens(socket, 'listening');
  if (!reserved) socket.close();
  return reserved;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const free = await happens(server, 'listening');
  if (free) await new Promise((done) => server.close(done));
  return free;
}

/** Returns whether the event occurs before an error. */
const happens = (emitter: EventEmitter, event: string): Promise<boolean> =>
  once(emitter, event).then(
    () => true,
    () => false,
  );
