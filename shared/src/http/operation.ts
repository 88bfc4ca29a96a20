// What an operation takes and gives: the values between the contract and the answer.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../auth/index.ts';
import type { Fault } from './problem.ts';

/** A request that has passed authentication and the contract. */
export interface OperationRequest {
  readonly operationId: string;
  readonly method: string;
  /** Path and query as they arrived. */
  readonly url: string;
  /** The request id, also the `instance` of a problem document. */
  readonly id: string;
  /** W3C trace context of this request. */
  readonly traceparent: string;
  /** Who calls, from the verified token; undefined when the operation is public and no token was sent. */
  readonly caller: Caller | undefined;
  readonly path: Readonly<Record<string, string>>;
  /** Declared parameters: a number where the contract says integer, a list where it says array. */
  readonly query: Readonly<Record<string, QueryValue>>;
  readonly headers: IncomingHttpHeaders;
  /** The body, checked against the contract; undefined when there was none. */
  readonly body: unknown;
  /** What the contract does not allow; empty but for an operation that refuses it itself (`x-refused-by-operation`). */
  readonly faults: readonly Fault[];
}

export type QueryValue = string | number | boolean | readonly string[];

/** What leaves. At most one of `body` and `json`. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** JSON that is already text. */
  readonly json?: string;
  /** A strong entity tag, quotes included (RFC 9110 section 8.8.3). */
  readonly etag?: string;
}

/** One operation of a contract. `Context` is what the service was wired with. */
export type Operation<Context> = (request: OperationRequest, context: Context) => Promise<Reply>;

export type Operations<Context> = Readonly<Record<string, Operation<Context>>>;

/** The caller of an operation whose contract requires a token. */
export function callerOf(request: OperationRequest): Caller {
  if (request.caller === undefined)
    throw new Error(`${request.operationId} runs without a caller: its contract must require one`);
  return request.caller;
}
