// Many listeners of live updates, with little work of their own: raw sockets that stay open.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The number of connections that are opened together. */
const together = 100;

export class Listeners {
  readonly #port: number;
  readonly #sockets: Socket[] = [];
  #onData: (data: Buffer) => void = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  get count(): number {
    return this.#sockets.length;
  }

  /** Opens further listeners. @throws when one of them gets no stream */
  async open(count: number): Promise<void> {
    for (let left = count; left > 0; left -= together)
      await Promise.all(Array.from({ length: Math.min(left, together) }, () => this.#openOne()));
  }

  /**
   * Waits for the next event.
   * @returns a function that resolves with the time at which each listener got the event of the subject
   */
  next(): (subject: string) => Promise<number[]> {
    const arrivals: { readonly at: number; readonly data: Buffer }[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onData = (data) => {
      // A comment is shorter than an event.
      if (data.length < 100) return;
      arrivals.push({ at: performance.now(), data });
      if (arrivals.length === this.count) resolve();
    };
    return async (subject) => {
      await promise;
      if (arrivals.some(({ data }) => !data.includes(subject))) throw new Error('another change came first');
      return arrivals.map(({ at }) => at);
    };
  }

  close(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy();
  }

  async #openOne(): Promise<void> {
    const socket = connect({ port: this.#port, host: '127.0.0.1' });
    socket.write('GET /v1/changes/live?types=product HTTP/1.1\r\nHost: shop\r\n\r\n');
    const [head] = (await once(socket, 'data')) as [Buffer];
    if (!head.includes('HTTP/1.1 200 ')) throw new Error(`answered ${head.toString()}`);
    socket.on('data', (data: Buffer) => this.#onData(data));
    socket.on('error', () => {});
    this.#sockets.push(socket);
  }
}
