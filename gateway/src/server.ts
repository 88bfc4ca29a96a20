// The HTTP server in front of the engine: its limits, and answers for what never becomes a request.
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '@shop/shared/protocol';
import type { Log } from '@shop/shared/runtime';
import {
  GatewayRequest,
  type GatewayResponse,
  type Middleware,
  onResponseClose,
} from '../plugin/entry/gateway-request.ts';
import type { GuardOptions } from '../plugin/entry/guard.ts';
import { identifyRequest } from '../plugin/entry/request-id.ts';
import { sendProblem } from '../plugin/entry/send-response.ts';
import { type ParserError, problemFor, refuse, takingTurns, type Unanswered } from './client-errors.ts';
import { type ConnectionLimits, Connections } from './connections.ts';
import { ProtocolNames } from './protocol-name.ts';
import { watchReaders } from './slow-readers.ts';

export type ServerOptions = GuardOptions & ConnectionLimits;

/** Milliseconds for a client to deliver a whole request. */
const arrival = 10_000;
const idle = 60_000;
/** Requests that a connection may send before the first of them is answered: each holds memory until its turn. */
const sentAhead = 100;
/** Bytes of them that may arrive, bodies included, after those that came in one piece with the first. */
const bytesAhead = 64 * 1_024;
/** Refusals in one turn of the event loop: thousands of slow senders may be late at once, and the others do not wait. */
const refusedAtOnce = 8;

const options = {
  IncomingMessage: GatewayRequest,
  headersTimeout: arrival,
  requestTimeout: arrival,
  connectionsCheckingInterval: 100,
  keepAliveTimeout: idle,
  // Node would answer these itself, without a problem document.
  requireHostHeader: false,
  insecureHTTPParser: false,
  noDelay: true,
};

/** The server, not listening yet. Whatever goes wrong on it is answered with a problem document. */
export function createGatewayServer(
  handle: Middleware,
  limits: ServerOptions,
  log: Log,
): Server<typeof GatewayRequest> {
  // Room for the longest target and the largest header section together: the guard tells which of the two was too long.
  const maxHeaderSize = limits.maximumHeader + limits.maximumTarget;
  const asked = new WeakMap<Socket, Unanswered>();
  const refused = new WeakSet<Socket>();
  const inTurn = takingTurns(refusedAtOnce);
  const connections = new Connections(limits, log);
  const names = new ProtocolNames(
    (socket) => server.emit('clientError', new Error('the request line does not name HTTP'), socket),
    (socket) => asked.get(socket)?.last.req.complete === false,
  );

  const take = (request: GatewayRequest, response: GatewayResponse): void => {
    // A request that was sent ahead waits: Node parses it at once, but the one before it may end the connection, and what
    // will not be answered must not be done.
    const { socket } = request;
    const known = asked.get(socket);
    const { bytesRead } = socket;
    const ahead = known === undefined || known.waiting === 0 ? 0 : bytesRead - known.bytesRead;
    if (known !== undefined && (known.count > sentAhead || ahead > bytesAhead)) socket.destroy();
    names.search(socket);
    // Node goes on parsing what had arrived before, and what arrives after a refusal or while one waits for its turn.
    if (!socket.writable || refused.has(socket)) return;
    if (known === undefined && connections.begin(socket) === 'spare') {
      response.shouldKeepAlive = false;
      if (!request.url?.startsWith('/health/')) {
        refused.add(socket);
        inTurn(() => refuse(socket, tooManyConnections()));
        return;
      }
    }
    const before = known?.last;
    const unanswered = known ?? { last: response, before, count: 0, waiting: 0, bytesRead };
    unanswered.last = response;
    unanswered.before = before;
    unanswered.count += 1;
    asked.set(socket, unanswered);
    response.on('close', answered);
    if (request.leavesHttp) {
      response.shouldKeepAlive = false;
      // The target of CONNECT is no path; the guard refuses the method under any.
      if (request.method === 'CONNECT') request.url = '/';
    }
    if (before === undefined || before.writableFinished) run(request, response);
    else {
      if (unanswered.waiting === 0) unanswered.bytesRead = bytesRead;
      unanswered.waiting += 1;
      before.once('close', () => {
        unanswered.waiting -= 1;
        unanswered.bytesRead = bytesRead;
        if (socket.writable) run(request, response);
      });
    }
  };
  const answered = onResponseClose((request, response) => {
    const { socket } = request;
    const unanswered = asked.get(socket);
    if (unanswered === undefined) return;
    unanswered.count -= 1;
    if (unanswered.before === response) unanswered.before = undefined;
    if (unanswered.count > 0) return;
    if (request.complete) rest(socket);
    // It was answered before it was here in whole: should it break, it gets no second answer.
    else request.once('end', () => unanswered.count === 0 && rest(socket));
  });
  const rest = (socket: Socket): void => {
    asked.delete(socket);
    connections.end(socket);
  };
  const run = (request: GatewayRequest, response: GatewayResponse): void => {
    try {
      handle(request, response, (error) => {
        // A target without a path goes past everything in the engine, also past the guard.
        if (request.id === '') identifyRequest(request);
        sendProblem(request, response, error ?? new Problem('not-found', 'There is nothing at this address.'), log);
      });
    } catch (error) {
      sendProblem(request, response, error, log);
    }
  };
  const server = createServer({ ...options, maxHeaderSize }, take as never) as Server<typeof GatewayRequest>;
  // The guard counts the fields; Node would drop those past its own bound without a word.
  server.maxHeadersCount = 0;
  server.timeout = idle;
  server.on('connection', (socket) => {
    connections.open(socket);
    names.watch(socket);
  });
  const readers = watchReaders(() => connections.sockets, log);
  server.on('close', () => clearInterval(readers));

  server.on('checkContinue', (request, response) => {
    request.expectsContinue = true;
    take(request, response as GatewayResponse);
  });
  server.on('checkExpectation', (request, response) => take(request, response as GatewayResponse));
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? asked.get(socket)?.last.req : undefined;
    // Its last bytes may come before its turn: then it is answered, and the connection ends without a refusal.
    inTurn(() => refuse(socket, late?.complete ? undefined : problemFor(error, limits), asked.get(socket)));
  });
  return server;
}

function tooManyConnections(): Problem {
  return new Problem('service-unavailable', 'Too many connections are open.', { headers: { 'Retry-After': '10' } });
}
