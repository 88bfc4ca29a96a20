// Connections that idle and senders that crawl: what they cost the gateway, and the others.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two bytes of a slow sender; in how many groups the senders take turns. */
const everyByte = 500;
const turns = 50;
/** Milliseconds after thousands of connections were opened or closed. */
const settling = 1_000;

/** Connections that have asked once and stay open. */
export async function openIdle(port: number, count: number): Promise<() => Promise<void>> {
  const sockets = await openAll(port, count, 'GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n');
  return () => closeAll(sockets);
}

/** Senders that each add a byte to their request every half second, each in its own time, and begin again when cut off. */
export async function openSlow(port: number, count: number): Promise<() => Promise<void>> {
  const start = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 1000\r\n\r\n';
  const sockets = await openAll(port, count, start);
  let turn = 0;
  const timer = setInterval(() => {
    turn = (turn + 1) % turns;
    for (let index = turn; index < sockets.length; index += turns) {
      const socket = sockets[index];
      if (socket?.writable) socket.write('x');
      else sockets[index] = begin(port, start);
    }
  }, everyByte / turns);
  return () => {
    clearInterval(timer);
    return closeAll(sockets);
  };
}

async function openAll(port: number, count: number, start: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    sockets.push(...Array.from({ length: Math.min(100, count - sockets.length) }, () => begin(port, start)));
    await pause(50);
  }
  await pause(settling);
  return sockets;
}

function begin(port: number, start: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(start);
  return socket;
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await pause(settling);
}

/**
 * Asks at a steady rate, whatever the answers take, and gives the 99th percentile in milliseconds.
 * @param perSecond requests a second, spread over as many connections as wait at once
 */
export async function steadyP99(
  port: number,
  next: () => string,
  perSecond: number,
  milliseconds: number,
): Promise<number> {
  const times: number[] = [];
  const idle: Socket[] = [];
  const running: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; performance.now() - began < milliseconds; ) {
    for (; sent < ((performance.now() - began) * perSecond) / 1_000; sent += 1)
      running.push(askOnce(port, next(), idle, times));
    await pause(1);
  }
  await Promise.all(running);
  await closeAll(idle);
  times.sort((left, right) => left - right);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

/** The answers of the benchmark fit into one packet. */
function askOnce(port: number, request: string, idle: Socket[], times: number[]): Promise<void> {
  const socket = idle.pop() ?? connect({ port, host: '127.0.0.1', noDelay: true });
  const began = performance.now();
  return new Promise((resolve) => {
    const done = (): void => {
      socket.removeAllListeners();
      socket.on('error', () => {});
      times.push(performance.now() - began);
      if (!socket.destroyed) idle.push(socket);
      resolve();
    };
    socket
      .once('data', done)
      .once('close', done)
      .once('error', () => {});
    socket.write(request);
  });
}
