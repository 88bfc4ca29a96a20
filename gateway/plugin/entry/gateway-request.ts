// One request on its way through the gateway: what the guard and the policies find out about it.
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Caller } from '@shop/shared/auth';
import type { OperationOutline } from '@shop/shared/protocol';
import type { Span } from '@shop/shared/telemetry';
import type { BodyBuffer } from './body-buffer.ts';
import type { GatewayConfig } from './gateway-config.ts';

/** The whole body, or a stream that refuses to grow past the maximum; undefined when there is none. */
export type Body = Buffer | AsyncIterable<Buffer> | undefined;

/** Node's request with the gateway's findings as typed fields. The guard fills the first group before anything else. */
export class GatewayRequest extends IncomingMessage {
  /** The request id: the client's own when it is safe, else ours. */
  id = '';
  traceparent = '';
  /** When it came in, on the clock of `performance.now()`. */
  began = 0;
  /** Its span, when its trace may be recorded. */
  span: Span | undefined = undefined;
  /** Path without query; checked to have exactly one spelling. */
  path = '';
  /** The client's address, seen through the configured number of proxies. */
  client = '';
  scheme: 'http' | 'https' = 'http';
  /** Flat list of the end-to-end header fields that may travel on. */
  forwardable: string[] = [];
  /** Where in it the value of `traceparent` is. */
  traceparentAt = 0;
  authorization: string | undefined = undefined;
  /** The service gets an `Idempotency-Key` with it. */
  hasIdempotencyKey = false;
  /** Milliseconds on the clock of `performance.now()` at which the answer has to be there. */
  deadline = 0;
  /** The client waits for `100 Continue` before it sends the body. */
  expectsContinue = false;
  /** Asks to leave HTTP, by CONNECT or `Upgrade`: Node drops the bytes that came with it. */
  leavesHttp = false;

  /** What the engine and its routers write here for themselves. */
  next: unknown = undefined;
  params: unknown = undefined;
  egContext: unknown = undefined;
  _parsedUrl: unknown = undefined;

  body: Promise<Body> | undefined = undefined;
  /** While its body is taken in, what has come of it. */
  bodyBuffer: BodyBuffer | undefined = undefined;
  operation: OperationOutline | undefined = undefined;
  /** Set by `authenticate` once it has decided; `forward` takes nothing without it. */
  identified = false;
  /** What `authenticate` has against the request; `limit` says it once the request is counted. */
  refusal: unknown = undefined;
  caller: Caller | undefined = undefined;
  /** Header fields that policies add to whatever answer comes, flat. */
  answerHeaders: string[] = [];

  /** When the engine has nothing left to do: what it knows of a request would wait for the body of every slow sender. */
  leaveEngine(): void {
    this.next = undefined;
    this.params = undefined;
    this.egContext = undefined;
    this._parsedUrl = undefined;
  }

  /** Nobody leaves: such a request is answered like any other, and Node never hands out its bare socket. */
  get upgrade(): boolean {
    return false;
  }

  set upgrade(asked: boolean | null) {
    if (asked === true) this.leavesHttp = true;
  }
}

/** The operation that lasts as long as somebody looks at the board: what it takes says nothing about the shop. */
export const boardStream = 'watchBoard';

export type GatewayResponse = ServerResponse<GatewayRequest>;

/**
 * A listener for the `close` of every answer. One for all of them: thousands of requests may wait for their senders at once, and
 * what each of them keeps is work for every collection of the heap.
 */
export function onResponseClose(
  listener: (request: GatewayRequest, response: GatewayResponse) => void,
): (this: GatewayResponse) => void {
  return function (this: GatewayResponse): void {
    listener(this.req, this);
  };
}

export type Middleware = (request: GatewayRequest, response: GatewayResponse, next: (error?: unknown) => void) => void;

/** A policy as the engine takes it: named, with a schema for its `action`, and a factory of middleware. */
export interface Policy {
  readonly name: string;
  readonly schema: { readonly $id: string } & Record<string, unknown>;
  readonly policy: (action: never, config: { readonly gatewayConfig: GatewayConfig }) => Middleware;
}

/** The schema of a policy's action: every listed member required, none else. */
export function actionSchema(name: string, properties: Record<string, object> = {}): Policy['schema'] {
  return { $id: `policy:${name}`, type: 'object', properties, required: Object.keys(properties) };
}
