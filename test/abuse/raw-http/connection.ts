// A connection to an HTTP/1.1 server, for one request after the other. It accepts only well-formed responses.
import { connect, type Socket } from 'node:net';
import { Incoming, type ReceivedAnswer } from './answer.ts';

interface Waiting {
  readonly incoming: Incoming;
  readonly resolve: (answer: ReceivedAnswer) => void;
  readonly reject: (error: Error) => void;
}

export class Connection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #usedAt = 0;
  /** Why no further request can be sent. */
  #failure: Error | undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    // A name would be looked up for each connection.
    const host = hostname === 'localhost' ? '127.0.0.1' : hostname;
    this.#socket = connect({ host, port: Number(port), noDelay: true });
    this.#socket.on('data', (data) => this.#take(data));
    this.#socket.on('timeout', () => this.#fail(new Error('no response in time')));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#end());
  }

  /**
   * Sends a request.
   * @param within milliseconds without a byte after which the response counts as missing
   * @throws when the response is missing, incomplete or not well-formed, or when bytes followed the response before
   */
  exchange(method: string, bytes: Buffer, within: number): Promise<ReceivedAnswer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#socket.setTimeout(within);
    this.#socket.ref();
    return new Promise((resolve, reject) => {
      this.#waiting = { incoming: new Incoming(method), resolve, reject };
      this.#socket.write(bytes);
    });
  }

  /** Milliseconds since the last response. */
  idle(): number {
    return performance.now() - this.#usedAt;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(data: Buffer): void {
    if (this.#waiting === undefined) {
      this.#fail(new Error(`${data.length} bytes without a request: ${data.toString('latin1', 0, 200)}`));
      return;
    }
    try {
      this.#done(this.#waiting.incoming.take(data));
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #end(): void {
    try {
      this.#done(this.#waiting?.incoming.end());
    } catch (error) {
      this.#fail(error as Error);
    }
    this.#fail(new Error('the connection was closed'));
  }

  #done(answer: ReceivedAnswer | undefined): void {
    if (answer === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#usedAt = performance.now();
    this.#socket.setTimeout(0);
    // An idle connection does not keep the process alive.
    this.#socket.unref();
    waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
  }
}
