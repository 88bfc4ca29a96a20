// The request and the result of an operation.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../auth/index.ts';
import type { QueryValue } from '../contract/index.ts';
import type { Fault } from '../problem/index.ts';
import type { StoreResponse } from './response-cache.ts';

/** A request that has passed authentication and the contract. */
export interface OperationRequest {
  readonly operationId: string;
  readonly method: string;
  /** The path and query as they arrived, with the ids of the path in lower case. */
  readonly url: string;
  /** The request id, also the `instance` of a problem document. */
  readonly id: string;
  /** The W3C trace context of this request. */
  readonly traceparent: string;
  /**
   * The caller from the verified token. Undefined for a public operation, and for an optional token that is missing,
   * invalid or lacks the scopes.
   */
  readonly caller: Caller | undefined;
  readonly path: Readonly<Record<string, string>>;
  /** The declared parameters: a number where the contract defines an integer, an array where it defines an array. */
  readonly query: Readonly<Record<string, QueryValue>>;
  readonly headers: IncomingHttpHeaders;
  /** The media type of the contract that the client prefers; of equal ones the first. */
  readonly mediaType: string;
  /** Returns the offered language that `Accept-Language` prefers. Undefined when it names none of them. */
  preferredLanguage(offered: readonly string[]): string | undefined;
  /** Aborts when the client closes the connection before it has the response. Created at its first use. */
  readonly signal: AbortSignal;
  /** Returns whether the access token of the request is still valid. For a response that lasts longer than a token. */
  isCallerValid(): Promise<boolean>;
  /** The body, validated by the contract, or the bytes of a file; undefined when there was none. */
  readonly body: unknown;
  /** The violations of the contract. Empty unless the operation reports them itself (`x-refused-by-operation`). */
  readonly faults: readonly Fault[];
  /**
   * Called by an operation with a result that may be cached: it has an entity tag and a JSON text, and is the same for
   * every caller without the scopes of the operation. It is compressed for clients that accept that.
   * @param store called with the complete response
   */
  cacheWith(store: StoreResponse): void;
}

/**
 * The result of an operation. Its body is an object that is sent as JSON, a JSON text as a whole or in pieces, a page,
 * or absent.
 */
export interface Result<Body = never> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly json?: string;
  /** A page, which is sent instead of a JSON body. */
  readonly html?: string;
  /**
   * A JSON text in pieces, when it is too large for memory. The next piece is requested when the client has read most
   * of the previous ones. A failure closes the connection, so that the client can detect the incomplete response.
   */
  readonly stream?: AsyncIterable<string>;
  /** An entity tag, quotes included (RFC 9110 section 8.8.3). */
  readonly etag?: string;
}

/** The types that the generator creates for one operation of a contract. */
interface OperationTypes {
  readonly parameters: { readonly query?: unknown; readonly path?: unknown };
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<number, unknown>>;
}

type ContentOf<Part> = Part extends { readonly content: infer Media }
  ? Media[keyof Media & 'application/json']
  : undefined;
/** Any other media type is that of a file. */
type BodyOf<Part> = Part extends { readonly content: infer Media }
  ? keyof Media extends 'application/json' | 'application/merge-patch+json'
    ? Media[keyof Media]
    : Buffer
  : undefined;
type MembersOf<Part> = [NonNullable<Part>] extends [never] ? Readonly<Record<never, never>> : NonNullable<Part>;
type Success = 200 | 201 | 202;

/** The request of an operation after its validation, with the types of its contract. */
export interface TypedRequest<Types extends OperationTypes> extends OperationRequest {
  readonly path: MembersOf<Types['parameters']['path']> & OperationRequest['path'];
  readonly query: MembersOf<Types['parameters']['query']> & OperationRequest['query'];
  readonly body: BodyOf<Types['requestBody']>;
}

/** One operation of a contract. `Context` is the type of the context of the service's operations. */
export type TypedOperation<Types extends OperationTypes, Context> = (
  request: TypedRequest<Types>,
  context: Context,
) => Promise<Result<ContentOf<Types['responses'][keyof Types['responses'] & Success]>>>;

/** operationId → function. Each function gets a request with the types of its own contract. */
export type Operations<Context> = Readonly<
  Record<string, (request: never, context: Context) => Promise<Result<unknown>>>
>;

/** Returns the caller of an operation that requires a token. */
export function requireCaller(request: OperationRequest): Caller {
  if (request.caller === undefined)
    throw new Error(`${request.operationId} runs without a caller: its contract must require one`);
  return request.caller;
}
