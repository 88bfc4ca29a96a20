// The fixed sequence of steps for every request of every service.
import type { RequestListener } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import {
  authenticate,
  type Caller,
  isStillValid,
  requireServiceToken,
  type ServiceTokens,
  type TokenVerifier,
} from '../auth/index.ts';
import type { Contract, ContractOperation } from '../contract/load-contract.ts';
import { Problem } from '../problem/index.ts';
import { type Health, type Log, toReason, withLowerCaseIds } from '../runtime/index.ts';
import { notModified, requireRead, requireUnversioned } from './conditional.ts';
import { acceptsGzip, compress } from './content-encoding.ts';
import { watchForDrift } from './contract-drift.ts';
import { arrivalAt, measureAnswer } from './measure-answer.ts';
import type { OperationRequest, Operations } from './operation.ts';
import { preferredType } from './preferred-type.ts';
import { forgetFile, type ParsedBody, parseBody, readBody } from './read-body.ts';
import { findRequestIdentity, identify } from './request-identity.ts';
import { type ResponseCache, requestText, type StoreResponse, serveCached, serveFromCache } from './response-cache.ts';
import { send, sendProblem, sendStream, toCachedResponse } from './send-result.ts';
import { toProblem } from './to-problem.ts';

export interface AppOptions<Context> {
  /** The name of the service. It is the audience of the service tokens that it accepts. */
  readonly name: string;
  readonly contract: Contract;
  /** operationId → function, for exactly the operations of the contract. */
  readonly operations: Operations<Context>;
  readonly context: Context;
  /** Required when the contract has operations that accept an access token. */
  readonly verifier?: TokenVerifier;
  /** Required when the contract has internal operations. */
  readonly serviceTokens?: ServiceTokens;
  /** The fraction of responses that are validated against the contract, from 0 to 1; default 0. */
  readonly contractWatch?: number;
  /** The cached responses of operations. */
  readonly cache?: ResponseCache | undefined;
  readonly health: Health;
  readonly log: Log;
}

/**
 * Creates the HTTP application of a service.
 * @throws when an operation of the contract has no function, or a function has no operation
 */
export function createApp<Context>(options: AppOptions<Context>): RequestListener {
  requireSameOperations(options.contract, options.operations);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', false);

  app.use((request, _response, next) => {
    request.url = withLowerCaseIds(request.url);
    next();
  });
  app.use(identify);
  const { contract, contractWatch = 0, log } = options;
  if (contractWatch > 0) app.use(watchForDrift(contract, contractWatch, log));
  app.get('/health/live', (_request, response) => send(response, { status: 200, body: { status: 'live' } }));
  app.get('/health/ready', async (_request, response) => {
    const { ready, ...report } = await options.health.report();
    send(response, { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not ready', ...report } });
  });
  // A literal path takes precedence over one with a parameter: GET /v1/products/search is not a request for a product.
  const parametersIn = (path: string): number => path.split('{').length - 1;
  const paths = [...allowedMethods(contract)].sort(([one], [other]) => parametersIn(one) - parametersIn(other));
  for (const [path, allow] of paths) {
    for (const operation of contract.operations.filter((each) => each.path === path)) {
      const run = options.operations[operation.operationId];
      if (run !== undefined)
        app[operation.method](routePath(path), (request, response) =>
          handle(options, operation, run, request, response).finally(() => forgetFile(request)),
        );
    }
    app.all(routePath(path), (request, response) => {
      if (request.method !== 'OPTIONS') {
        const detail = `The method ${request.method} is not supported here; ${allow} are.`;
        throw new Problem('method-not-allowed', detail, { headers: { Allow: allow } });
      }
      send(response, { status: 204, headers: { Allow: allow } });
    });
  }
  app.use(() => {
    throw new Problem('not-found', 'There is nothing at this address.');
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const problem = toProblem(error);
    // The query is not logged, because it may contain names and addresses of customers.
    const [path = ''] = request.url.split('?', 1);
    if (problem.status >= 500) logFailure(options.log, problem, path, findRequestIdentity(response).id);
    sendProblem(response, problem);
    measureAnswer(arrivalAt(response), {
      method: request.method,
      route: response.locals.route as string | undefined,
      status: problem.status,
    });
  });
  const { cache, verifier } = options;
  if (cache === undefined) return app;
  return (request, response) => {
    if (!serveFromCache(cache, verifier, request, response)) app(request, response);
  };
}

/** Logs an unavailable dependency as one line. An unexpected error is a bug, so its stack is logged. */
function logFailure(log: Log, problem: Problem, url: string, requestId: string): void {
  if (problem.code === 'internal-error') log.error({ err: problem.cause ?? problem, requestId, url }, problem.code);
  else log.warn({ reason: reasonOf(problem), requestId, url }, problem.code);
}

/** Returns the detail of an error and of every cause below it, as one line. */
function reasonOf(error: unknown): string {
  const reason = toReason(error);
  return !(error instanceof Error) || error.cause === undefined ? reason : `${reason} (${reasonOf(error.cause)})`;
}

const noBody: ParsedBody = { value: undefined, faults: [] };

async function handle<Context>(
  options: AppOptions<Context>,
  operation: ContractOperation,
  run: Operations<Context>[string],
  request: Request,
  response: Response,
): Promise<void> {
  response.locals.operationId = operation.operationId;
  response.locals.route = operation.path;
  response.locals.deprecation = operation.deprecation(request);
  const { caller, challenge } = await authenticate(options.verifier, operation.security, request.headers.authorization);
  response.locals.challenge = challenge;
  const path = request.params as Readonly<Record<string, string>>;
  const mediaType = acceptedType(request, operation);
  const bytes = await readBody(request, operation.body);
  if (operation.security.access === 'service') requireServiceToken(options, request, bytes);
  const file = operation.takesFile ? bytes : undefined;
  const json = operation.takesFile ? undefined : bytes;
  // A cached response has no challenge.
  const cached = challenge || !json ? undefined : options.cache?.find(requestText(request, json));
  if (cached && serveCached(cached, request, response, caller, arrivalAt(response))) {
    response.locals.unrecorded = true;
    return;
  }
  const { value: body, faults: bodyFaults } = json === undefined ? noBody : parseBody(json);
  if (body !== undefined)
    response.locals.deprecation = operation.deprecation({ url: request.url, headers: request.headers, body });
  const input = operation.check({ url: request.url, path, headers: request.headers, body, bodyFaults });
  let signal: AbortSignal | undefined;
  let store: StoreResponse | undefined;
  const checked: OperationRequest = {
    operationId: operation.operationId,
    method: request.method,
    url: request.url,
    ...findRequestIdentity(response),
    caller,
    path: input.path,
    query: input.query,
    faults: input.faults,
    headers: request.headers,
    mediaType,
    preferredLanguage: (offered) => request.acceptsLanguages([...offered]) || undefined,
    get signal() {
      signal ??= abandonmentOf(response);
      return signal;
    },
    isCallerValid: () => isStillValid(options.verifier, request.headers.authorization),
    body: file ?? body,
    cacheWith(given) {
      store = given;
    },
  };
  const isRead = operation.method === 'get' || operation.conditional;
  if (!isRead && !operation.versioned && !operation.internal)
    requireUnversioned(request.headers, operation.represented);
  // The request conforms to the contract, and the types of the function are generated from the same contract.
  const plain = await run(checked as never, options.context);
  const compressed = store && acceptsGzip(request.headers['accept-encoding']) ? compress(plain) : undefined;
  const result = compressed === undefined ? plain : { ...plain, etag: compressed.etag };
  if (isRead) requireRead(request.headers, result.etag);
  const common = headersOf(operation, caller, store !== undefined);
  store?.(requestText(request, json), toCachedResponse(response, operation, result, common, compressed?.gzip));
  const unchanged = operation.conditional && notModified(request.headers, result.etag);
  const answer = unchanged ? { ...result, status: 304 } : result;
  const headers = { ...common, ...challenge };
  const measure = (): void =>
    measureAnswer(arrivalAt(response), { method: request.method, route: operation.path, status: answer.status });
  // An event stream lasts until its client leaves. Its connection closes with it, because it may end while the process stops.
  if (operation.streams) {
    measure();
    response.shouldKeepAlive = false;
  }
  if (answer.stream === undefined) send(response, answer, headers, compressed?.gzip);
  else await sendStream(response, answer, answer.stream, headers);
  if (!operation.streams) measure();
}

/** Returns a signal that aborts when the connection closes before the whole response was sent. */
function abandonmentOf(response: Response): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return controller.signal;
}

/** Returns the headers of every response of an operation except its problems. */
function headersOf(
  { security: { access }, produces }: ContractOperation,
  caller: Caller | undefined,
  isCached: boolean,
): Readonly<Record<string, string>> {
  const isShared = access === 'public' || (access === 'optional' && caller === undefined);
  const vary = [
    ...(access === 'public' ? [] : ['Authorization']),
    // Only pages depend on the language.
    ...(produces.length > 1 ? ['Accept', 'Accept-Language'] : []),
    ...(isCached ? ['Accept-Encoding'] : []),
  ];
  return {
    'Cache-Control': isShared ? 'no-cache' : 'private, no-cache',
    ...(vary.length === 0 ? {} : { Vary: vary.join(', ') }),
  };
}

/** Returns the media type of the response. */
function acceptedType({ headers: { accept } }: Request, { produces }: ContractOperation): string {
  const [usual = ''] = produces;
  if (accept === undefined || accept === '*/*' || accept === usual) return usual;
  const type = preferredType(accept, produces);
  if (type === undefined) throw new Problem('not-acceptable', `Answers are ${produces.join(' or ')}.`);
  return type;
}

function requireSameOperations(contract: Contract, operations: Readonly<Record<string, unknown>>): void {
  const documented = new Set(contract.operations.map(({ operationId }) => operationId));
  const faults = [
    ...[...documented].filter((id) => operations[id] === undefined).map((id) => `operation ${id} has no function`),
    ...Object.keys(operations)
      .filter((id) => !documented.has(id))
      .map((id) => `function ${id} has no operation in the contract`),
  ];
  if (faults.length > 0) throw new Error(faults.join('; '));
}

function allowedMethods(contract: Contract): Map<string, string> {
  const allowed = new Map<string, string[]>();
  for (const { path, method } of contract.operations) {
    const methods = allowed.get(path) ?? ['OPTIONS'];
    methods.unshift(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    allowed.set(path, methods);
  }
  return new Map([...allowed].map(([path, methods]) => [path, methods.join(', ')]));
}

function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
