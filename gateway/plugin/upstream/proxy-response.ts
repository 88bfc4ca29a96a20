// One attempt to have a service answer a request: the answer is passed on as it comes, at the pace the client takes it.
import { Problem } from '@shop/shared/protocol';
import type { Dispatcher } from 'undici';
import type { Body, GatewayRequest, GatewayResponse } from '../entry/gateway-request.ts';
import { commonHeaders } from '../entry/send-response.ts';
import type { UpstreamHost, UpstreamHostOptions } from './upstream-host.ts';

// Connection matters (RFC 9110 section 7.6.1), what names products, and what the gateway says itself.
const keptFields = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'server',
  'x-powered-by',
  'via',
  'date',
  'x-request-id',
  'traceparent',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'cross-origin-resource-policy',
  'content-security-policy',
  'strict-transport-security',
]);

// So much of an answer is held for a client that does not read: a service's connection is worth more than the memory.
const heldForClient = 256 * 1024;

/** Why an attempt brought no answer. */
export class UpstreamFailure extends Error {
  /** Whether the service can have seen the request. */
  readonly sent: boolean;
  readonly late: boolean;
  /** Whether it is a mark against the service: not when it was late and had been given too little time. */
  readonly counts: boolean;

  constructor(cause: unknown, { sent, late, counts }: { sent: boolean; late: boolean; counts: boolean }) {
    super('the service gave no answer', { cause });
    this.sent = sent;
    this.late = late;
    this.counts = counts;
  }
}

/**
 * Sends the request to the address and its answer to the client.
 * @returns whether the service answered; false when the client went away before that
 * @throws UpstreamFailure when no byte of an answer was passed on
 */
export function proxyResponse(
  request: GatewayRequest,
  response: GatewayResponse,
  address: UpstreamHost,
  headers: readonly string[],
  body: Body,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const handler = new ResponseProxy(request, response, address.options, resolve, reject);
    const method = request.method ?? 'GET';
    // undici takes any iterable as a body; its types know fewer.
    const content = (body ?? null) as Buffer | null;
    address.pool.dispatch({ method, path: request.url ?? '/', headers: headers as string[], body: content }, handler);
  });
}

class ResponseProxy implements Dispatcher.DispatchHandler {
  readonly #request: GatewayRequest;
  readonly #response: GatewayResponse;
  readonly #resolve: (answered: boolean) => void;
  readonly #reject: (failure: unknown) => void;
  readonly #times: UpstreamHostOptions;
  /** Milliseconds that the service is given for this request alone. */
  #given: number;
  #timer: NodeJS.Timeout;
  readonly #onClose = () => this.#giveUp(new Error('the client is gone'));
  #controller: Dispatcher.DispatchController | undefined;
  #overdue = false;
  #settled = false;
  #waits = false;
  #silent = false;

  constructor(
    request: GatewayRequest,
    response: GatewayResponse,
    times: UpstreamHostOptions,
    resolve: (answered: boolean) => void,
    reject: (failure: unknown) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#times = times;
    this.#given = this.#left();
    this.#timer = setTimeout(() => this.#expire(), Math.max(1, this.#given));
    response.once('close', this.#onClose);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('given up before it was sent'));
  }

  /** The service's own time begins here: not while the request waits for a connection, nor while its body streams. */
  onRequestSent(): void {
    if (this.#settled || this.#response.headersSent) return;
    const { headersTimeout } = this.#times;
    this.#given = Math.min(headersTimeout, this.#left());
    if (this.#given < headersTimeout) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), headersTimeout);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, fields: Fields): void {
    if (status < 200 || this.#settled) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stall(), this.#times.bodyTimeout);
    this.#response.writeHead(status, answerHeaders(this.#request, status, fields));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#timer.refresh();
    this.#silent = false;
    if (this.#response.write(chunk) || this.#waits || this.#response.writableLength < heldForClient) return;
    this.#waits = true;
    controller.pause();
    this.#response.once('drain', () => {
      this.#waits = false;
      this.#timer.refresh();
      controller.resume();
    });
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#response.end();
    this.#settle();
    this.#resolve(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#settled) return;
    const answered = this.#response.headersSent;
    this.#settle();
    if (answered) {
      // Half an answer must not look like a whole one.
      this.#response.destroy();
      this.#resolve(true);
    } else if (error instanceof Problem) {
      this.#reject(error);
    } else {
      const late = this.#overdue;
      const counts = !late || this.#given >= this.#times.fairTime;
      this.#reject(new UpstreamFailure(error, { sent: this.#controller !== undefined, late, counts }));
    }
  }

  /** Milliseconds until the deadline of the request. */
  #left(): number {
    return this.#request.deadline - performance.now();
  }

  /** As `#stall`, it first has what came meanwhile read: the one that stood still may be this process. */
  #expire(): void {
    setImmediate(() => {
      if (this.#settled || this.#response.headersSent) return;
      this.#overdue = true;
      const error = new Error('the service did not answer in time');
      // While it waits for a connection there is no controller to abort: it is aborted when its turn comes.
      this.onResponseError(null, error);
      this.#controller?.abort(error);
    });
  }

  /** The rest of the answer does not come. While the client is the one to wait for, the service may be silent. */
  #stall(): void {
    if (this.#waits) {
      this.#timer.refresh();
      return;
    }
    this.#silent = true;
    setImmediate(() => {
      if (this.#settled || !this.#silent) return;
      this.#controller?.abort(new Error('the service fell silent in the middle of its answer'));
    });
  }

  #giveUp(reason: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#controller?.abort(reason);
    this.#resolve(false);
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#response.off('close', this.#onClose);
  }
}

type Fields = Readonly<Record<string, string | string[] | undefined>>;

function answerHeaders(request: GatewayRequest, status: number, fields: Fields): string[] {
  const headers = commonHeaders(request);
  const named = namedBy(fields.connection);
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || keptFields.has(name) || named?.includes(name)) continue;
    // RFC 9110 section 8.6: an answer that has no content has no length of it.
    if (status === 204 && name === 'content-length') continue;
    if (typeof value === 'string') headers.push(name, value);
    else for (const one of value) headers.push(name, one);
  }
  return headers;
}

/** The fields that `Connection` names, on one line or on several. Nearly always it says no more than `keep-alive`. */
function namedBy(connection: string | string[] | undefined): string[] | undefined {
  if (connection === undefined || connection === 'keep-alive') return undefined;
  const options = String(connection).toLowerCase().split(',');
  return options.map((option) => option.trim());
}
