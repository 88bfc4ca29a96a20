// Sends requests at a steady rate over open connections, independent of the response times.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { NextRequest } from '../collections/load.ts';

const connections = 128;
/**
 * Milliseconds between two checks of the schedule. A longer gap means that another process used the core of the load
 * generator.
 */
const heldUp = 3;

/**
 * Sends each request at a planned time. When no connection is free, the request waits for one, and its wait counts.
 * Otherwise a gateway that stops answering would get fewer requests and better results.
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
  // The connections are used in rotation, so that none is idle until the gateway closes it.
  const free = [...sockets];
  const send = (socket: Socket, at: number): void => {
    // The responses of the benchmark fit into one packet.
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
      // After a delay of the load itself, the schedule shifts, so that the missed requests are not sent as one burst.
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
