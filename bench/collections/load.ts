// Sends requests to one address as fast as it responds, with little work of its own: raw sockets that stay open.
import { connect, type Socket } from 'node:net';

/** Returns the next request in full: request line, headers, body. */
export type NextRequest = () => string | Buffer;

export interface Load {
  readonly port: number;
  readonly next: NextRequest;
  readonly milliseconds: number;
  /** Requests in flight, one per connection. */
  readonly connections: number;
  /** The status of every response. Default: 200. */
  readonly status?: number;
}

export interface Measured {
  readonly requests: number;
  /** Requests a second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** @throws when a response has another status */
export async function load(options: Load): Promise<Measured> {
  const times: number[] = [];
  const began = performance.now();
  const until = began + options.milliseconds;
  await Promise.all(Array.from({ length: options.connections }, () => keepAsking(options, until, times)));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { requests: times.length, rate: times.length / seconds, p50: at(0.5), p99: at(0.99) };
}

function keepAsking({ port, next, status = 200 }: Load, until: number, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sentAt = 0;
    // The remaining bytes of the present response; -1 before its head.
    let missing = -1;
    const ask = () => {
      sentAt = performance.now();
      missing = -1;
      socket.write(next());
    };
    socket.on('connect', ask);
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('data', (bytes: Buffer) => {
      if (missing < 0) {
        const head = bytes.indexOf('\r\n\r\n');
        const text = bytes.toString('latin1', 0, head);
        const length = /content-length: (\d+)/i.exec(text)?.[1];
        if (head < 0 || length === undefined || !text.startsWith(`HTTP/1.1 ${status} `)) {
          socket.destroy(new Error(`answered ${bytes.toString('utf8', 0, 800)}`));
          return;
        }
        missing = Number(length) - (bytes.length - head - 4);
      } else missing -= bytes.length;
      if (missing > 0) return;
      const now = performance.now();
      times.push(now - sentAt);
      if (now < until) ask();
      else socket.end();
    });
  });
}
