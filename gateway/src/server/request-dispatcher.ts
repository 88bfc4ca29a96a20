// Passes the requests of each connection to the engine, in order, and rejects those that must not be executed.
import type { Socket } from 'node:net';
import { Problem } from '@shop/shared/problem';
import type { Log } from '@shop/shared/runtime';
import type { GatewayRequest, GatewayResponse } from '../entry/gateway-request.ts';
import type { GuardOptions } from '../entry/guard.ts';
import type { Middleware } from '../entry/policy.ts';
import { identifyRequest } from '../entry/request-id.ts';
import { splitAbsoluteForm } from '../entry/request-target.ts';
import { sendProblem } from '../entry/send-response.ts';
import { type ParserError, problemFor, refuse, unparsedMethod } from './client-errors.ts';

/**
 * The maximum number of pipelined requests without a response on one connection. Each one occupies memory until it is
 * executed.
 */
const pipelinedRequests = 100;
/** The maximum bytes of pipelined requests, including bodies, that may arrive after the first packet of requests. */
const pipelinedBytes = 64 * 1_024;

/** The requests of a connection without a response. An idle connection has no entry. */
interface PendingRequests {
  last: GatewayResponse;
  /** The response before the last. */
  previous: GatewayResponse | undefined;
  count: number;
  /**
   * Pipelined requests that wait for the responses to earlier ones, and the number of bytes that had arrived with the
   * first of them.
   */
  waiting: number;
  bytesRead: number;
}

export class RequestDispatcher {
  readonly #handle: Middleware;
  readonly #limits: GuardOptions;
  readonly #log: Log;
  readonly #pending = new WeakMap<Socket, PendingRequests>();
  readonly #refused = new WeakSet<Socket>();

  constructor(handle: Middleware, limits: GuardOptions, log: Log) {
    this.#handle = handle;
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Executes a request after the response to the previous one. Node.js parses a pipelined request immediately, but the
   * earlier request may close the connection. A request that cannot get a response must not be executed.
   */
  accept(request: GatewayRequest, response: GatewayResponse): void {
    const { socket } = request;
    readAbsoluteForm(request);
    // The engine has no pipeline for `*`, which is the same as a URL without a path (RFC 9112 section 3.2.4).
    if (request.method === 'OPTIONS' && request.url === '*') request.url = '/';
    const known = this.#pending.get(socket);
    const { bytesRead } = socket;
    const ahead = known === undefined || known.waiting === 0 ? 0 : bytesRead - known.bytesRead;
    if (known !== undefined && (known.count > pipelinedRequests || ahead > pipelinedBytes)) socket.destroy();
    // Node.js also parses bytes that arrive after an error response, or while it waits for an earlier response.
    if (!socket.writable || this.#refused.has(socket)) return;
    const previous = known?.last;
    const pending = known ?? { last: response, previous, count: 0, waiting: 0, bytesRead };
    pending.last = response;
    pending.previous = previous;
    pending.count += 1;
    this.#pending.set(socket, pending);
    response.on('close', () => this.#onClose(request, response));
    if (request.leavesHttp) {
      response.shouldKeepAlive = false;
      // The target of CONNECT is not a path. The guard rejects the method for every path.
      if (request.method === 'CONNECT') request.url = '/';
    }
    if (previous === undefined || previous.writableFinished) this.#run(request, response);
    else this.#runAfter(previous, pending, request, response);
  }

  /** Rejects the data of a connection after an error of Node's parser or of its timers. */
  refuse(error: ParserError, socket: Socket): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const responses = this.#pending.get(socket);
    refuse(socket, problemFor(error, this.#limits), responses, unparsedMethod(error, responses));
  }

  #runAfter(
    previous: GatewayResponse,
    pending: PendingRequests,
    request: GatewayRequest,
    response: GatewayResponse,
  ): void {
    const { socket } = request;
    const { bytesRead } = socket;
    if (pending.waiting === 0) pending.bytesRead = bytesRead;
    pending.waiting += 1;
    previous.once('close', () => {
      pending.waiting -= 1;
      pending.bytesRead = bytesRead;
      if (socket.writable) this.#run(request, response);
    });
  }

  #run(request: GatewayRequest, response: GatewayResponse): void {
    try {
      this.#handle(request, response, (error) => {
        // The guard sets the id, but the engine does not run the guard for a target without a path.
        if (request.id === '') identifyRequest(request);
        const problem = error ?? new Problem('not-found', 'There is nothing at this address.');
        sendProblem(request, response, problem, this.#log);
      });
    } catch (error) {
      sendProblem(request, response, error, this.#log);
    }
  }

  #onClose(request: GatewayRequest, response: GatewayResponse): void {
    const { socket } = request;
    const pending = this.#pending.get(socket);
    if (pending === undefined) return;
    pending.count -= 1;
    if (pending.previous === response) pending.previous = undefined;
    if (pending.count > 0) return;
    if (request.complete) this.#pending.delete(socket);
    // The response was sent before the body was complete. The state is retained, so that an invalid rest does not get a
    // second response.
    else request.once('end', () => pending.count === 0 && this.#pending.delete(socket));
  }
}

/** Separates the host from the path, because the engine chooses the pipeline by the path. */
function readAbsoluteForm(request: GatewayRequest): void {
  const absolute = splitAbsoluteForm(request.url ?? '');
  if (absolute === undefined) return;
  request.authority = absolute.authority;
  request.url = absolute.target;
  request.headers.host = absolute.authority;
}
