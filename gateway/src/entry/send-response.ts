// The gateway's own responses, problem documents among them.
import { STATUS_CODES } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Problem, problemDocument, problemMediaType } from '@shop/shared/problem';
import { requestIdentity } from '@shop/shared/protocol';
import { inRequest, type Log, toReason } from '@shop/shared/runtime';
import type { PageResponse } from '@shop/web';
import { commonHeaders, type Identity } from './common-headers.ts';
import type { GatewayRequest, GatewayResponse } from './gateway-request.ts';

/** Bytes of one write. After each write the connection shows whether a slow client still reads. */
const pieceLength = 64 * 1_024;

/** Sends a response of the gateway itself. */
export function sendDocument(request: GatewayRequest, response: GatewayResponse, document: PageResponse): void {
  const { status = 200, type = 'application/json', body, headers = [], contentPolicy, stream } = document;
  const all = commonHeaders(request, contentPolicy);
  if (body !== undefined || stream !== undefined) all.push('Content-Type', type);
  const bytes = typeof body === 'object' ? body : Buffer.from(body ?? '');
  if (body !== undefined) all.push('Content-Length', String(bytes.length));
  all.push(...headers);
  response.writeHead(status, all);
  if (stream !== undefined) stream(response);
  else if (bytes.length <= pieceLength) response.end(bytes);
  // The transfer fails only when the client closes the connection, which needs no handling.
  else pipeline(pieces(bytes), response).catch(() => {});
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceLength) yield bytes.subarray(start, start + pieceLength);
}

/** Sends an error as a problem document. An error that is not a Problem becomes a 500 without internal details. */
export function sendProblem(request: GatewayRequest, response: GatewayResponse, error: unknown, log: Log): void {
  const problem = error instanceof Problem ? error : unexpected(error);
  inRequest(request, () => {
    if (problem.status === 500) log.error({ err: problem.cause ?? problem }, problem.code);
    else if (problem.status > 500) log.warn({ reason: toReason(problem.cause) }, problem.code);
  });
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(problemDocument(problem, request.id));
  sendDocument(request, response, { status: problem.status, type: problemMediaType, body, headers: fieldsOf(problem) });
}

/**
 * Returns the bytes of an error response after which the connection closes. The response to a HEAD request has no body
 * (RFC 9110 section 9.3.2).
 * @param method the method of the rejected request, as far as it is known
 * @param request the rejected request, when the guard has seen it
 */
export function rawRefusal(problem: Problem, method: string | undefined, request?: GatewayRequest): string {
  const identity: Identity = request?.id ? request : { ...requestIdentity({}), scheme: 'http', responseHeaders: [] };
  const body = JSON.stringify(problemDocument(problem, identity.id));
  const fields = [...commonHeaders(identity), 'Content-Type', problemMediaType, ...fieldsOf(problem)];
  fields.push('Content-Length', String(Buffer.byteLength(body)), 'Date', new Date().toUTCString());
  const lines = fields.map((field, index) => (index % 2 === 0 ? `${field}: ` : `${field}\r\n`)).join('');
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines}Connection: close\r\n\r\n${method === 'HEAD' ? '' : body}`;
}

function fieldsOf(problem: Problem): string[] {
  return ['Cache-Control', 'no-store', ...Object.entries(problem.headers).flat()];
}

function unexpected(cause: unknown): Problem {
  return new Problem('internal-error', 'The request could not be handled.', { cause });
}
