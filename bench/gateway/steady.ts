// Asks at a steady rate over connections that stay open, whatever the answers take.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { NextRequest } from '../collections/load.ts';

const connections = 128;
/** Milliseconds between two looks at the plan, after which something else had the load's core. */
const heldUp = 3;

/**
 * Each request is due at a time that was planned before. When no connection is free it waits for one, and its wait counts:
 * otherwise a gateway that stands still would be asked less, and look the better for it.
 * @param perSecond requests a second
 * @returns the 99th percentile, in milliseconds, of the time from when a request was due to its answer
 * @throws when the gateway ends a connection
 */
export async function steadyP99(
  port: number,
  next: NextRequest,
  perSecond: number,
  milliseconds: number,
): Promise<number> {
  const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const times: number[] = [];
  const due: number[] = [];
  // In turn, so that none of them idles for so long that the gateway ends it.
  const free = [...sockets];
  const send = (socket: Socket, at: number): void => {
    // The answers of the benchmark fit into one packet.
    socket.once('data', () => {
      times.push(performance.now() - at);
      const waiting = due.shift();
      if (waiting === undefined) free.push(socket);
      else send(socket, waiting);
    });
    socket.write(next());
  };
  const ended = Promise.race(
    sockets.map(async (socket) => {
      await once(socket, 'close');
      throw new Error('the gateway ended a connection');
    }),
  );
  const planned = (perSecond * milliseconds) / 1_000;
  const ask = async (): Promise<void> => {
    let began = performance.now();
    let last = began;
    for (let asked = 0; times.length < planned; await pause(1)) {
      const now = performance.now();
      // Clients do not wait for each other: when the load itself was held up, what it missed does not come all at once.
      began += Math.max(0, now - last - heldUp);
      last = now;
      for (; asked < Math.min(planned, ((now - began) * perSecond) / 1_000); asked += 1) {
        const socket = free.shift();
        if (socket === undefined) due.push(now);
        else send(socket, now);
      }
    }
  };
  await Promise.race([ask(), ended]);
  for (const socket of sockets) socket.destroy();
  times.sort((left, right) => left - right);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
