// Responses to bytes that are not a request, and to an incomplete body. Node's own responses have no problem document.
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, problemDocument, problemMediaType } from '../problem/index.ts';
import { requestIdentity } from './request-identity.ts';

/**
 * Sends a problem document for a request that the parser rejects, if a response is still possible, and closes the
 * connection.
 */
export function answerParserErrors(server: Server): void {
  const latest = new WeakMap<Socket, ServerResponse>();
  server.prependListener('request', (request, response) => latest.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = latest.get(socket);
    const broken = response?.req.complete === false && !response.headersSent;
    if (
      error.code !== 'ECONNRESET' &&
      socket.writable &&
      (response === undefined || response.writableFinished || broken)
    )
      socket.end(refusal(problemOf(error)));
    // When a response is in progress, another one would be read as a part of it.
    else socket.destroy();
  });
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('header-fields-too-large', 'The request target and the header fields are too large together.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('content-too-large', 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request-timeout', 'The request did not arrive in time.');
    default:
      return new Problem('invalid-request', 'The request is not valid HTTP/1.1.');
  }
}

function refusal(problem: Problem): string {
  const { id } = requestIdentity({});
  const body = JSON.stringify(problemDocument(problem, id));
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `X-Request-Id: ${id}`,
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
