// Answers that an operation keeps: given again to a request with exactly the same text, without checking that text or
// running the operation once more.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, TokenVerifier } from '../auth/index.ts';
import type { ContractOperation } from '../contract/index.ts';
import { notModified } from './conditional.ts';
import { measureAnswer } from './measure-answer.ts';
import { type Beginning, beginningOf } from './request-identity.ts';

/** An answer with status 200 that is the same for everybody who lacks a scope of its operation. */
export interface KeptAnswer {
  readonly operation: Pick<ContractOperation, 'path' | 'security'>;
  readonly etag: string;
  /** Header fields, flat, without the request id and those of the content. */
  readonly headers: readonly string[];
  /** Header fields of the content, flat. */
  readonly content: readonly string[];
}

export interface AnswerMemory {
  /** The answer that is kept for a request with this text, if it is still right. */
  find(text: string): { readonly answer: KeptAnswer; readonly body: Buffer } | undefined;
}

/**
 * The text of a request under which its answer is kept: all that the answer depends on beside the caller. The answer to
 * HEAD is that to GET.
 */
export function requestText(given: string | undefined, url: string | undefined, body?: Buffer): string {
  const method = given === 'HEAD' ? 'GET' : given;
  return body === undefined ? `${method} ${url}` : `${method} ${url}\n${body.toString('latin1')}`;
}

/**
 * Answers from the memory, if it can.
 * @param caller of a token that was verified before; undefined without a token
 * @param arrived of a request that other steps have seen
 * @returns false when the request has to be checked and answered by its operation
 */
export function answerKept(
  { answer, body }: NonNullable<ReturnType<AnswerMemory['find']>>,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller | undefined,
  arrived?: Beginning,
): boolean {
  const { operation, etag, headers, content } = answer;
  if (caller !== undefined && operation.security.scopes.every((scope) => caller.scopes.has(scope))) return false;
  const unchanged = isUnchanged(request, etag);
  if (unchanged === undefined) return false;
  const arrival = arrived ?? beginningOf(request.headers);
  const common = ['X-Request-Id', arrival.id, ...headers];
  if (unchanged) response.writeHead(304, common).end();
  else response.writeHead(200, [...common, ...content]).end(body);
  measureAnswer(arrival, { method: request.method, route: operation.path, status: unchanged ? 304 : 200 });
  return true;
}

/** Undefined for a header that is not valid, which the operation's own path refuses. */
function isUnchanged({ headers }: IncomingMessage, etag: string): boolean | undefined {
  try {
    return notModified(headers, etag);
  } catch {
    return undefined;
  }
}

const acceptable = new Set([undefined, '*/*', 'application/json']);

/**
 * Answers a GET from the memory before anything else looks at it.
 * @returns false when the memory has no answer for exactly this request
 */
export function answerFromMemory(
  memory: AnswerMemory,
  verifier: TokenVerifier | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { accept, authorization } = request.headers;
  if (request.method !== 'GET' || !acceptable.has(accept) || hasBody(request)) return false;
  const caller = authorization === undefined ? undefined : verifier?.known(authorization);
  // A token that is not known has to be verified first: it may be that of staff.
  if (authorization !== undefined && caller === undefined) return false;
  const kept = memory.find(requestText(request.method, request.url));
  return kept !== undefined && answerKept(kept, request, response, caller);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}
