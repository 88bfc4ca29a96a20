// One request in the gateway, with the data that the guard and the steps add.
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Caller } from '@shop/shared/auth';
import type { OperationOutline } from '@shop/shared/contract';
import type { Span } from '@shop/shared/telemetry';
import type { BodyBuffer } from './body-buffer.ts';

/** A buffered body, or a stream that fails past the maximum; undefined without a body. */
export type Body = Buffer | AsyncIterable<Buffer> | undefined;

/** Node's request with the gateway's findings as typed fields. The guard sets the fields up to `deadline`. */
export class GatewayRequest extends IncomingMessage {
  /** The request id: the client's own when it is safe, otherwise a new one. */
  id = '';
  traceparent = '';
  /** When the request arrived, on the clock of `performance.now()`. */
  began = 0;
  /** The span of the request, when its trace is sampled. */
  span: Span | undefined = undefined;
  /** The normalized path without the query. */
  path = '';
  /** The host and port of a target in absolute-form; undefined for a target that is a path. */
  authority: string | undefined = undefined;
  /** The client's address as the outermost trusted proxy saw it. */
  client = '';
  scheme: 'http' | 'https' = 'http';
  /** Flat list of the end-to-end header fields for the upstream. */
  forwardable: string[] = [];
  /** The index of the value of `traceparent` in `forwardable`. */
  traceparentAt = 0;
  authorization: string | undefined = undefined;
  /** Whether an `Idempotency-Key` is forwarded. */
  hasIdempotencyKey = false;
  /** The time on the clock of `performance.now()` by which the response must begin. */
  deadline = 0;
  /** The client waits for `100 Continue` before it sends the body. */
  expectsContinue = false;
  /** The request asks for another protocol by CONNECT or `Upgrade`. Node discards the bytes that follow it. */
  leavesHttp = false;

  /** The engine and its routers write these fields for themselves. */
  next: unknown = undefined;
  params: unknown = undefined;
  egContext: unknown = undefined;
  _parsedUrl: unknown = undefined;

  body: Promise<Body> | undefined = undefined;
  bodyBuffer: BodyBuffer | undefined = undefined;
  operation: OperationOutline | undefined = undefined;
  /**
   * Set by the step `authenticate` when it admits the request. Without it, no request reaches an upstream or the
   * board's data.
   */
  authenticated = false;
  caller: Caller | undefined = undefined;
  /** The client has logged in before with the e-mail address in the body, from the same network. */
  isKnownClient = false;
  /**
   * Counts a response with a rate-limited status before it is sent to the client. Rejects with the problem to send
   * instead. Undefined for a response that is not counted.
   */
  countRefusal: ((status: number) => Promise<void> | undefined) | undefined = undefined;
  /** Header fields for every response to this request, flat. */
  responseHeaders: string[] = [];

  /** Drops the engine's own state, which would otherwise stay in memory until a slow sender has sent the whole body. */
  leaveEngine(): void {
    this.next = undefined;
    this.params = undefined;
    this.egContext = undefined;
    this._parsedUrl = undefined;
  }

  /** Always false, so that Node handles an upgrade as a normal request and never exposes the bare socket. */
  get upgrade(): boolean {
    return false;
  }

  set upgrade(requested: boolean | null) {
    if (requested === true) this.leavesHttp = true;
  }
}

export type GatewayResponse = ServerResponse<GatewayRequest>;
