// Refusals of what never becomes a request, or stops being one: at the right place among the answers of its connection.
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Problem } from '@shop/shared/protocol';
import type { GatewayResponse } from '../plugin/entry/gateway-request.ts';
import type { GuardOptions } from '../plugin/entry/guard.ts';
import { rawRefusal } from '../plugin/entry/send-response.ts';

/** What a connection has asked and not been answered. An idle connection keeps nothing of its last request. */
export interface Unanswered {
  last: GatewayResponse;
  /** The one before the last. */
  before: GatewayResponse | undefined;
  count: number;
  /** How many of them wait for the answer before theirs, and how much had arrived with the first of these. */
  waiting: number;
  bytesRead: number;
}

/** Runs what it is given in order, `atOnce` in each turn of the event loop, from the next turn on. */
export function takingTurns(atOnce: number): (task: () => void) => void {
  const tasks: (() => void)[] = [];
  const turn = (): void => {
    for (const task of tasks.splice(0, atOnce)) task();
    if (tasks.length > 0) setImmediate(turn);
  };
  return (task) => {
    if (tasks.push(task) === 1) setImmediate(turn);
  };
}

export interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

export function problemFor({ code, rawPacket }: ParserError, { maximumTarget, maximumHeader }: GuardOptions): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request-timeout', 'The request did not arrive in time.');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new Problem('content-too-large', 'The chunk extensions are too large.');
  if (code !== 'HPE_HEADER_OVERFLOW') return new Problem('invalid-request', 'The request is not valid HTTP/1.1.');
  // When the first line alone is too long, it was the request target.
  const end = rawPacket?.indexOf('\r\n') ?? 0;
  return end < 0 || end > maximumTarget
    ? new Problem('uri-too-long', `The request target is longer than ${maximumTarget} bytes.`)
    : new Problem('header-fields-too-large', `The header fields are larger than ${maximumHeader} bytes.`);
}

/**
 * Refuses what is broken on a connection, after the answers to what came before it: either the body of the last request,
 * or what came behind that and never was a request.
 * @param problem undefined: nothing is, and the connection ends after those answers
 */
export function refuse(socket: Socket, problem: Problem | undefined, { last, before }: Partial<Unanswered> = {}): void {
  const broken = last?.req.complete === false ? last : undefined;
  const answered = broken?.writableEnded === true;
  if (broken?.headersSent && !answered) {
    // In the middle of an answer there is no place for another one.
    socket.destroy();
    return;
  }
  const ahead = broken === undefined || answered ? last : before;
  const end = (): void => hangUp(socket, answered || problem === undefined ? '' : rawRefusal(problem, broken?.req));
  if (problem === undefined && last !== undefined) last.shouldKeepAlive = false;
  if (ahead === undefined || ahead.writableFinished) end();
  // Before a request that waits for the same moment: it finds the connection ended, and is not done.
  else ahead.prependOnceListener('close', end);
}

/** Ends a connection with these bytes. What it still sends is read for a while, lest a reset overtakes them. */
function hangUp(socket: Socket, bytes: string): void {
  if (!socket.writable) return;
  socket.end(bytes);
  // Whoever does not read them is not waited for.
  setTimeout(1_000, undefined, { ref: false }).then(
    () => socket.destroy(),
    () => {},
  );
}
