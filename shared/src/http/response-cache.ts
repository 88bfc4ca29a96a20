// Cached responses of operations. A request with exactly the same key gets the same response, without validation and
// without running the operation again.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, TokenVerifier } from '../auth/index.ts';
import type { ContractOperation } from '../contract/index.ts';
import { notModified } from './conditional.ts';
import { acceptsGzip } from './content-encoding.ts';
import { measureAnswer } from './measure-answer.ts';
import { type Beginning, parseBeginning } from './request-identity.ts';

/** A response with status 200 that is the same for every caller who lacks the scopes of its operation. */
export interface CachedResponse {
  readonly operation: Pick<ContractOperation, 'path' | 'security'>;
  readonly etag: string;
  /** Header fields as a flat list, without the request id and those of the content. */
  readonly headers: readonly string[];
  /** Header fields of the content as a flat list. */
  readonly content: readonly string[];
  readonly body: Buffer;
}

/** Caches a response for further requests with the same key. */
export type StoreResponse = (text: string, response: CachedResponse) => void;

export interface ResponseCache {
  /** Returns the cached response to a request with this key, if it is still current. */
  find(text: string): CachedResponse | undefined;
}

/**
 * Returns the key of the cached response to a request. It contains everything that the response depends on except the
 * caller. HEAD uses the response to GET.
 */
export function requestText({ method: given, url, headers }: IncomingMessage, body?: Buffer): string {
  const method = given === 'HEAD' ? 'GET' : given;
  const line = acceptsGzip(headers['accept-encoding']) ? `${method} ${url} gzip` : `${method} ${url}`;
  return body === undefined ? line : `${line}\n${body.toString('latin1')}`;
}

/**
 * Sends a cached response if possible.
 * @param caller of a token that was verified before; undefined without a token
 * @param arrived the arrival of a request that other steps have handled
 * @returns false when the operation has to validate and process the request
 */
export function serveCached(
  { operation, etag, headers, content, body }: CachedResponse,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller | undefined,
  arrived?: Beginning,
): boolean {
  if (caller !== undefined && operation.security.scopes.every((scope) => caller.scopes.has(scope))) return false;
  if (request.headers['if-match'] !== undefined) return false;
  const unchanged = isUnchanged(request, etag);
  if (unchanged === undefined) return false;
  const arrival = arrived ?? parseBeginning(request.headers);
  const common = ['X-Request-Id', arrival.id, ...headers];
  if (unchanged) response.writeHead(304, common).end();
  else response.writeHead(200, [...common, ...content]).end(body);
  measureAnswer(arrival, { method: request.method, route: operation.path, status: unchanged ? 304 : 200 });
  return true;
}

/** Returns whether the client has the current response. Undefined for an invalid header, which a later step rejects. */
function isUnchanged({ headers }: IncomingMessage, etag: string): boolean | undefined {
  try {
    return notModified(headers, etag);
  } catch {
    return undefined;
  }
}

const acceptable = new Set([undefined, '*/*', 'application/json']);

/**
 * Sends the cached response to a GET before any other step.
 * @returns false when the cache has no response to exactly this request
 */
export function serveFromCache(
  cache: ResponseCache,
  verifier: TokenVerifier | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { accept, authorization } = request.headers;
  if (request.method !== 'GET' || !acceptable.has(accept) || hasBody(request)) return false;
  const caller = authorization === undefined ? undefined : verifier?.known(authorization);
  // An unknown token has to be verified first, because it may belong to staff.
  if (authorization !== undefined && caller === undefined) return false;
  const cached = cache.find(requestText(request));
  return cached !== undefined && serveCached(cached, request, response, caller);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}
