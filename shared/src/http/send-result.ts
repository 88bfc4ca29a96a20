// The only module that sends a service's responses.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { ContractOperation } from '../contract/load-contract.ts';
import { type Problem, problemDocument, problemMediaType } from '../problem/index.ts';
import type { Result } from './operation.ts';
import { findRequestIdentity } from './request-identity.ts';
import type { CachedResponse } from './response-cache.ts';

/**
 * Sends a result with a complete body.
 * @param gzip the compressed JSON text, which is sent instead
 */
export function send(
  response: Response,
  result: Result<unknown>,
  headers: Readonly<Record<string, string>> = {},
  gzip?: Buffer,
): void {
  const hasContent = result.status !== 304 && result.status !== 204;
  const content = hasContent
    ? (gzip ?? result.html ?? result.json ?? (result.body === undefined ? undefined : JSON.stringify(result.body)))
    : undefined;
  writeHead(response, result, content === undefined ? {} : contentOf(content, result.html && html), headers);
  response.end(content);
}

/**
 * Sends a result with a body in pieces.
 * @throws the error of the stream, after the connection was closed
 */
export async function sendStream(
  response: Response,
  result: Result<unknown>,
  stream: AsyncIterable<string>,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  response.locals.unrecorded = true;
  writeHead(response, result, { 'Content-Type': 'application/json' }, headers);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  // The client has left, and nothing can be piped to a closed response.
  if (response.destroyed) return;
  try {
    await pipeline(Readable.from(stream), response);
  } catch (error) {
    // The client closed the connection.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function writeHead(
  response: Response,
  result: Result<unknown>,
  content: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): void {
  // All headers are set in one call, because a header that was set before makes Node use a slower path.
  response.writeHead(result.status, {
    'X-Request-Id': findRequestIdentity(response).id,
    ...content,
    ...fieldsOf(response, result, headers),
  });
}

/** Returns the header fields of a response, without the request id and those of the content. */
function fieldsOf(
  response: Response,
  result: Result<unknown>,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const deprecation = deprecationIn(response);
  const links = [result.headers?.Link, deprecation?.Link];
  return {
    ...headers,
    ...deprecation,
    ...(result.etag === undefined ? {} : { ETag: result.etag }),
    ...result.headers,
    ...(links.includes(undefined) ? {} : { Link: links.join(', ') }),
  };
}

const html = 'text/html; charset=utf-8';

/** @param content plain, or a JSON text compressed with gzip */
function contentOf(content: string | Buffer, type = 'application/json'): Readonly<Record<string, string>> {
  const length = { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(content)) };
  return typeof content === 'string' ? length : { ...length, 'Content-Encoding': 'gzip' };
}

/** Returns the deprecation headers of the request's operation and parameters. Undefined when no operation matched. */
function deprecationIn(response: Response): Readonly<Record<string, string>> | undefined {
  return response.locals.deprecation as Readonly<Record<string, string>> | undefined;
}

/** Sends a problem document, or closes the connection when a response has begun. */
export function sendProblem(response: Response, problem: Problem): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { id } = findRequestIdentity(response);
  const text = JSON.stringify(problemDocument(problem, id));
  response.writeHead(problem.status, {
    'X-Request-Id': id,
    'Content-Type': problemMediaType,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...deprecationIn(response),
    // The caller sent an invalid token, which was ignored. A valid token might have succeeded.
    ...(response.locals.challenge as Readonly<Record<string, string>> | undefined),
    ...problem.headers,
  });
  response.end(text);
}

/** Returns a result with an entity tag and a JSON text as the cache stores it. */
export function toCachedResponse(
  response: Response,
  operation: ContractOperation,
  result: Result<unknown>,
  headers: Readonly<Record<string, string>>,
  gzip: Buffer | undefined,
): CachedResponse {
  const { etag, json } = result;
  if (etag === undefined || json === undefined)
    throw new TypeError(`${operation.operationId} caches a response without an entity tag or a JSON text`);
  return {
    operation,
    etag,
    headers: Object.entries(fieldsOf(response, result, headers)).flat(),
    content: Object.entries(contentOf(gzip ?? json)).flat(),
    body: gzip ?? Buffer.from(json),
  };
}
