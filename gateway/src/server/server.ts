// Creates the HTTP server of the gateway with its timeouts, limits and event handlers.
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '@shop/shared/runtime';
import { GatewayRequest, type GatewayResponse } from '../entry/gateway-request.ts';
import type { GuardOptions } from '../entry/guard.ts';
import type { Middleware } from '../entry/policy.ts';
import { RequestDispatcher } from './request-dispatcher.ts';
import { watchReaders } from './slow-readers.ts';

export interface ServerOptions extends GuardOptions {
  /**
   * The maximum number of open connections. An idle one takes about 16 KB: 10,000 of them, the buffered bodies and the
   * process itself stay below the 384 MiB of the container.
   */
  readonly maximumConnections: number;
}

/** Milliseconds in which a client must send a whole request. */
const arrival = 10_000;
const idle = 60_000;

const options = {
  IncomingMessage: GatewayRequest,
  headersTimeout: arrival,
  requestTimeout: arrival,
  connectionsCheckingInterval: 100,
  keepAliveTimeout: idle,
  // The guard rejects a request without Host. Node.js would respond without a problem document.
  requireHostHeader: false,
  insecureHTTPParser: false,
  noDelay: true,
};

/** Creates the server, which does not listen yet. It returns a problem document for every error. */
export function createGatewayServer(
  handle: Middleware,
  limits: ServerOptions,
  log: Log,
): Server<typeof GatewayRequest> {
  const dispatcher = new RequestDispatcher(handle, limits, log);
  const accept = (request: GatewayRequest, response: GatewayResponse): void => dispatcher.accept(request, response);
  // Node's bound has room for the longest target and the largest header section. The guard finds which of them is too
  // long.
  const maxHeaderSize = limits.maximumHeader + limits.maximumTarget;
  const server = createServer({ ...options, maxHeaderSize }, accept as never) as Server<typeof GatewayRequest>;
  // The guard counts the fields. Node would silently drop those past its own bound.
  server.maxHeadersCount = 0;
  // A connection is silent while its request waits for a service. It must stay open until the response at the deadline
  // is sent.
  server.timeout = Math.max(idle, limits.deadline + arrival);
  server.maxConnections = limits.maximumConnections;
  server.on('checkContinue', (request, response) => {
    request.expectsContinue = true;
    accept(request, response as GatewayResponse);
  });
  server.on('checkExpectation', (request, response) => accept(request, response as GatewayResponse));
  server.on('clientError', (error, socket) => dispatcher.refuse(error, socket as Socket));
  watchReaders(server, log);
  logDrops(server, log);
  return server;
}

/** Logs at most once a minute that connections are closed because too many are open. */
function logDrops(server: Server, log: Log): void {
  let next = 0;
  server.on('drop', () => {
    if (performance.now() < next) return;
    next = performance.now() + 60_000;
    log.warn({ open: server.maxConnections }, 'a new connection was closed: too many connections are open');
  });
}
