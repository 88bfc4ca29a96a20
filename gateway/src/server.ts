// The HTTP server in front of the engine: its limits, and answers for what never becomes a request.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Problem } from '@shop/shared/protocol';
import { type Log, type ProcessLife, StartError } from '@shop/shared/runtime';
import { rawRefusal, sendProblem } from '../plugin/answer.ts';
import { GatewayRequest, type GatewayResponse, type Middleware, whenOver } from '../plugin/exchange.ts';
import type { GuardOptions } from '../plugin/guard.ts';
import { identifyRequest } from '../plugin/request-id.ts';

/** Milliseconds for a client to deliver a whole request. */
const arrival = 10_000;
const idle = 60_000;
/**
 * Connections at once; another one is closed as it comes. An idle one holds about 16 KB: these, the bodies that are held and
 * the process itself stay below the 384 MiB that its container has, and those who are connected are served.
 */
const connections = 10_000;
/** Requests that a connection may send before the first of them is answered: each holds memory until its turn. */
const sentAhead = 100;
/** Refusals in one turn of the event loop: thousands of slow senders may be late at once, and the others do not wait. */
const refusedAtOnce = 8;
/** From the signal to the end of the last running request. */
const stopWithin = 9_500;

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

/** What a connection has asked and not been answered. An idle connection keeps nothing of its last request. */
interface Unanswered {
  last: GatewayResponse;
  /** The one before the last. */
  before: GatewayResponse | undefined;
  count: number;
}

/** The server, not listening yet. Whatever goes wrong on it is answered with a problem document. */
export function createGatewayServer(handle: Middleware, limits: GuardOptions, log: Log): Server<typeof GatewayRequest> {
  // Room for the longest target and the largest header section together: the guard tells which of the two was too long.
  const maxHeaderSize = limits.maximumHeader + limits.maximumTarget;
  const asked = new WeakMap<Socket, Unanswered>();
  const refused = new WeakSet<Socket>();
  const inTurn = takingTurns(refusedAtOnce);

  const take = (request: GatewayRequest, response: GatewayResponse): void => {
    // A request that was sent ahead waits: Node parses it at once, but the one before it may end the connection, and what
    // will not be answered must not be done.
    const { socket } = request;
    const known = asked.get(socket);
    if (known !== undefined && known.count > sentAhead) socket.destroy();
    // Node goes on parsing what had arrived before, and what arrives after a refusal or while one waits for its turn.
    if (!socket.writable || refused.has(socket)) return;
    const before = known?.last;
    const unanswered = known ?? { last: response, before, count: 0 };
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
    else before.once('close', () => socket.writable && run(request, response));
  };
  const answered = whenOver((request, response) => {
    const unanswered = asked.get(request.socket);
    if (unanswered === undefined) return;
    unanswered.count -= 1;
    if (unanswered.before === response) unanswered.before = undefined;
    if (unanswered.count > 0) return;
    if (request.complete) asked.delete(request.socket);
    // It was answered before it was here in whole: should it break, it gets no second answer.
    else request.once('end', () => unanswered.count === 0 && asked.delete(request.socket));
  });
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
  server.maxConnections = connections;
  let told = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - told < 60_000) return;
    told = performance.now();
    log.warn({ connections }, 'connections are closed as they come: there are too many');
  });

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
    inTurn(() => refuse(socket, late?.complete ? undefined : problemOf(error, limits), asked.get(socket)));
  });
  return server;
}

/** Runs what it is given in order, `atOnce` in each turn of the event loop, from the next turn on. */
function takingTurns(atOnce: number): (task: () => void) => void {
  const tasks: (() => void)[] = [];
  const turn = (): void => {
    for (const task of tasks.splice(0, atOnce)) task();
    if (tasks.length > 0) setImmediate(turn);
  };
  return (task) => {
    if (tasks.push(task) === 1) setImmediate(turn);
  };
}

interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

function problemOf({ code, rawPacket }: ParserError, { maximumTarget, maximumHeader }: GuardOptions): Problem {
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
function refuse(socket: Socket, problem: Problem | undefined, { last, before }: Partial<Unanswered> = {}): void {
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

/**
 * Listens until the process stops. Then it says so for `drain` milliseconds: not ready, and every answer closes its
 * connection; whoever sends requests here has turned elsewhere by the time the port closes. What runs is finished.
 * @param stopping told first
 * @returns the port
 * @throws StartError when the port is taken or not allowed
 */
export async function listen(
  server: Server<typeof GatewayRequest>,
  { host, port, drain }: { host: string; port: number; drain: number },
  life: ProcessLife,
  stopping: () => void,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is taken' : error.code;
      reject(new StartError(`cannot listen on ${host}:${port} (${reason})`));
    });
    server.listen(port, host, resolve);
  });
  life.onStop('HTTP server', async () => {
    stopping();
    const lastAnswer = (_request: unknown, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    };
    server.prependListener('request', lastAnswer).prependListener('checkContinue', lastAnswer);
    await setTimeout(drain);
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    // Connections that fall idle after this moment close by themselves: their last answer said so.
    await Promise.race([closed, setTimeout(stopWithin - drain)]);
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
