// One attempt to get a response from an upstream. The response is streamed at the pace at which the client reads it.
import { Problem } from '@shop/shared/problem';
import type { Dispatcher } from 'undici';
import type { Body, GatewayRequest, GatewayResponse } from '../entry/gateway-request.ts';
import { type ResponseFields, responseHeaders } from './forwarded-headers.ts';
import type { UpstreamHost, UpstreamHostOptions } from './upstream-host.ts';

// Bytes that are buffered for a client that reads slowly. Buffering them frees the connection to the upstream earlier.
const bufferedForClient = 256 * 1024;

/** The reason why an attempt got no response. */
export class UpstreamFailure extends Error {
  /** Whether the upstream can have received the request. */
  readonly sent: boolean;
  readonly late: boolean;
  /**
   * Whether the failure counts against the upstream. A late response does not count when the upstream had too little
   * time.
   */
  readonly counts: boolean;

  constructor(cause: unknown, { sent, late, counts }: { sent: boolean; late: boolean; counts: boolean }) {
    super('the upstream sent no response', { cause });
    this.sent = sent;
    this.late = late;
    this.counts = counts;
  }
}

/** The upstream responded, but the client must get a problem instead. */
export class WithheldResponse extends Error {
  readonly status: number;
  readonly problem: unknown;

  constructor(status: number, problem: unknown) {
    super('the response is not sent to the client');
    this.status = status;
    this.problem = problem;
  }
}

/**
 * Sends the request to the host and the host's response to the client.
 * @returns the status of the response; undefined when the client closed the connection before that. Resolves at the end of
 * the response, and at the beginning of a stream
 * @throws WithheldResponse when the response exceeds its caller's limit of error responses
 * @throws UpstreamFailure when no byte of a response was sent to the client
 */
export function proxyResponse(
  request: GatewayRequest,
  response: GatewayResponse,
  host: UpstreamHost,
  headers: readonly string[],
  body: Body,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const handler = new ResponseProxy(request, response, host.options, resolve, reject);
    const method = request.method ?? 'GET';
    // undici accepts any async iterable as a body; its types do not list it.
    const content = (body ?? null) as Buffer | null;
    host.pool.dispatch({ method, path: request.url ?? '/', headers: headers as string[], body: content }, handler);
  });
}

class ResponseProxy implements Dispatcher.DispatchHandler {
  readonly #request: GatewayRequest;
  readonly #response: GatewayResponse;
  readonly #resolve: (status: number | undefined) => void;
  readonly #reject: (failure: unknown) => void;
  readonly #times: UpstreamHostOptions;
  /** Milliseconds that the upstream has for this request. */
  #allowed: number;
  #timer: NodeJS.Timeout;
  readonly #onClose = () => this.#abandon(new Error('the client closed the connection'));
  #controller: Dispatcher.DispatchController | undefined;
  #late = false;
  #ended = false;
  #paused = false;
  #stalled = false;

  constructor(
    request: GatewayRequest,
    response: GatewayResponse,
    times: UpstreamHostOptions,
    resolve: (status: number | undefined) => void,
    reject: (failure: unknown) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#times = times;
    this.#allowed = this.#left();
    this.#timer = setTimeout(() => this.#expire(), Math.max(1, this.#allowed));
    response.once('close', this.#onClose);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('abandoned before it was sent'));
  }

  /**
   * Starts the upstream's own time: it does not include the wait for a connection or the transfer of the request's
   * body.
   */
  onRequestSent(): void {
    if (this.#ended || this.#response.headersSent) return;
    const { headersTimeout } = this.#times;
    this.#allowed = Math.min(headersTimeout, this.#left());
    if (this.#allowed < headersTimeout) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), headersTimeout);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, fields: ResponseFields): void {
    if (status < 200 || this.#ended) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stall(), this.#times.bodyTimeout);
    const counted = this.#request.countRefusal?.(status);
    if (counted === undefined) this.#response.writeHead(status, responseHeaders(this.#request, status, fields));
    else this.#sendCounted(counted, controller, status, fields);
    if (this.#request.operation?.streams === true && counted === undefined) this.#resolve(status);
  }

  /** Counts an error response and then sends it, or withholds it. */
  #sendCounted(
    counted: Promise<void>,
    controller: Dispatcher.DispatchController,
    status: number,
    fields: ResponseFields,
  ): void {
    this.#paused = true;
    controller.pause();
    counted.then(
      () => {
        if (this.#ended) return;
        this.#paused = false;
        this.#response.writeHead(status, responseHeaders(this.#request, status, fields));
        controller.resume();
      },
      (problem: unknown) => {
        if (this.#ended) return;
        const withheld = new WithheldResponse(status, problem);
        this.#end();
        this.#reject(withheld);
        controller.abort(withheld);
      },
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // The gateway has ended a stream, because it stops.
    if (this.#response.writableEnded) return;
    this.#timer.refresh();
    this.#stalled = false;
    if (this.#response.write(chunk) || this.#paused || this.#response.writableLength < bufferedForClient) return;
    this.#paused = true;
    controller.pause();
    this.#response.once('drain', () => {
      this.#paused = false;
      this.#timer.refresh();
      controller.resume();
    });
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    this.#response.end();
    this.#end();
    this.#resolve(this.#response.statusCode);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#ended) return;
    const answered = this.#response.headersSent;
    this.#end();
    if (answered) {
      // A truncated response must not look complete.
      this.#response.destroy();
      this.#resolve(this.#response.statusCode);
    } else if (error instanceof Problem) {
      this.#reject(error);
    } else {
      const late = this.#late;
      const counts = !late || this.#allowed >= this.#times.fairTime;
      this.#reject(new UpstreamFailure(error, { sent: this.#controller !== undefined, late, counts }));
    }
  }

  /** Returns milliseconds until the deadline of the request. */
  #left(): number {
    return this.#request.deadline - performance.now();
  }

  /**
   * Handles a late upstream. `setImmediate` first lets a response be read that arrived meanwhile, because this process
   * itself may have been delayed.
   */
  #expire(): void {
    setImmediate(() => {
      if (this.#ended || this.#response.headersSent) return;
      this.#late = true;
      const error = new Error('the upstream did not answer in time');
      // A request that still waits for a connection has no controller. `onRequestStart` aborts it later.
      this.onResponseError(null, error);
      this.#controller?.abort(error);
    });
  }

  /** Handles a response that remains incomplete. An upstream that waits for a slow client does not count as stalled. */
  #stall(): void {
    if (this.#paused) {
      this.#timer.refresh();
      return;
    }
    this.#stalled = true;
    setImmediate(() => {
      if (this.#ended || !this.#stalled) return;
      this.#controller?.abort(new Error('the upstream stopped in the middle of its response'));
    });
  }

  #abandon(reason: Error): void {
    if (this.#ended) return;
    this.#end();
    this.#controller?.abort(reason);
    this.#resolve(undefined);
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#response.off('close', this.#onClose);
  }
}
