// Rejects bytes that are not a request, and requests that become invalid. The error response is sent after the
// responses to earlier requests.
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Problem } from '@shop/shared/problem';
import type { GatewayResponse } from '../entry/gateway-request.ts';
import type { GuardOptions } from '../entry/guard.ts';
import { rawRefusal } from '../entry/send-response.ts';

/** The last two unfinished responses of a connection. */
export interface LastResponses {
  readonly last: GatewayResponse;
  readonly previous: GatewayResponse | undefined;
}

/** An error of Node's HTTP parser or of its timers. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Returns the method of the request that could not be parsed; undefined when the bytes begin with another request. */
export function unparsedMethod({ rawPacket }: ParserError, responses: LastResponses | undefined): string | undefined {
  return responses === undefined ? /^[A-Z]+(?= )/.exec(rawPacket?.toString('latin1', 0, 16) ?? '')?.[0] : undefined;
}

/** Returns the problem for a parser error. */
export function problemFor({ code, rawPacket }: ParserError, { maximumTarget }: GuardOptions): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request-timeout', 'The request did not arrive in time.');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new Problem('content-too-large', 'The chunk extensions are too large.');
  if (code !== 'HPE_HEADER_OVERFLOW') return new Problem('invalid-request', 'The request is not valid HTTP/1.1.');
  // The bytes at hand may be a later part of the request. When they begin with its first line, and that exceeds the
  // bound, the request target was too long.
  const first = /^[A-Z]+ [^\r]*/.exec(rawPacket?.toString('latin1') ?? '')?.[0] ?? '';
  return first.length > maximumTarget
    ? new Problem('uri-too-long', `The request target is longer than ${maximumTarget} bytes.`)
    : new Problem('header-fields-too-large', 'The request target and the header fields are too large together.');
}

/**
 * Closes a connection with invalid data: the body of the last request, or bytes after it that are not a request. The
 * responses to the earlier requests are sent first.
 * @param method that of an invalid request, as far as it is known
 */
export function refuse(socket: Socket, problem: Problem, responses?: LastResponses, method?: string): void {
  const { last, previous } = responses ?? {};
  const broken = last?.req.complete === false ? last : undefined;
  const answered = broken?.writableEnded === true;
  if (broken?.headersSent && !answered) {
    // An error response cannot be written into the middle of a response.
    socket.destroy();
    return;
  }
  const ahead = broken === undefined || answered ? last : previous;
  const end = (): void => {
    const request = broken?.req;
    endConnection(socket, answered ? '' : rawRefusal(problem, request?.method ?? method, request));
  };
  if (ahead === undefined || ahead.writableFinished) end();
  // The listener is prepended, so that a pipelined request that waits for the same event finds the connection ended and
  // is not executed.
  else ahead.prependOnceListener('close', end);
}

/**
 * Sends these bytes and closes the connection. The socket is still read for a while, because a reset could arrive
 * before the bytes do.
 */
function endConnection(socket: Socket, bytes: string): void {
  if (!socket.writable) return;
  socket.end(bytes);
  setTimeout(1_000, undefined, { ref: false }).then(
    () => socket.destroy(),
    () => {},
  );
}
