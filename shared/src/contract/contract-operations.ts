// The operations of a contract and their permitted callers, for the gateway. No schema is compiled.
import { dereference, isNode, type Node, toNode } from './openapi-document.ts';

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

/**
 * The permitted callers: anyone, the bearer of a token with all the scopes, or another service. `optional` permits
 * anyone, and the response has further members for the bearer of a token with all the scopes.
 */
export interface Security {
  readonly access: 'public' | 'optional' | 'required' | 'service';
  readonly scopes: readonly string[];
  /** For an operation of customers that needs no scope: a machine with one of these scopes may also call it. */
  readonly machineScopes: readonly string[];
}

export interface OperationOutline {
  readonly operationId: string;
  readonly method: Method;
  /** The path in the document, such as `/v1/orders/{orderId}`. */
  readonly path: string;
  /** Whether only other services may call it. */
  readonly internal: boolean;
  readonly security: Security;
  /** Whether it accepts an `Idempotency-Key`. A request with a key may be sent a second time. */
  readonly takesKey: boolean;
  /** Whether it returns 304 without a body when `If-None-Match` matches the present representation. */
  readonly conditional: boolean;
  /** Whether it compares `If-Match` and `If-None-Match` with the version of a resource itself. */
  readonly versioned: boolean;
  /** Whether a resource at its path has a representation, which GET returns. */
  readonly represented: boolean;
  /** The maximum size of its body in bytes (`x-max-bytes`); undefined when the contract has none. */
  readonly maxBytes: number | undefined;
  /** Whether its body is a file and not a JSON value. `maxBytes` may then exceed the maximum of other bodies. */
  readonly takesFile: boolean;
  /** Whether it responds with an event stream, which lasts until the client leaves. */
  readonly streams: boolean;
}

/**
 * Returns every operation of a document, in its order.
 * @throws when one has no operationId
 */
export function outlineOperations(document: Node): OperationOutline[] {
  return Object.entries(isNode(document.paths) ? document.paths : {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      return isNode(item) && isNode(item[method]) ? [outline(document, path, item, method)] : [];
    }),
  );
}

function outline(document: Node, path: string, item: Node, method: Method): OperationOutline {
  const operation = toNode(item[method]);
  const { operationId } = operation;
  if (typeof operationId !== 'string') throw new Error(`${method} ${path} has no operationId`);
  const internal = operation['x-internal'] === true;
  const security = securityOf(operation.security ?? document.security, operation['x-machine-scopes']);
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.filter(isNode) : [];
  const takes = (header: string) => parameters.some((each) => dereference(document, each).name === header);
  const takesKey = takes('Idempotency-Key');
  const versioned = takes('If-Match');
  const represented = isNode(item.get);
  const conditional = isNode(operation.responses) && '304' in operation.responses;
  const body = dereference(document, operation.requestBody);
  const maxBytes = maxBytesOf(operationId, body);
  const takesFile = isNode(body.content) && !Object.keys(body.content).some(isJson);
  const streams = isNode(operation.responses) && 'text/event-stream' in contentOf(document, operation.responses['200']);
  return {
    operationId,
    method,
    path,
    internal,
    security,
    takesKey,
    conditional,
    versioned,
    represented,
    maxBytes,
    takesFile,
    streams,
  };
}

function contentOf(document: Node, response: unknown): Node {
  return toNode(dereference(document, response).content);
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

function maxBytesOf(operationId: string, { 'x-max-bytes': bound }: Node): number | undefined {
  if (bound === undefined || (typeof bound === 'number' && Number.isInteger(bound) && bound > 0)) return bound;
  throw new Error(`x-max-bytes of ${operationId} is no number of bytes`);
}

function securityOf(security: unknown, forMachines: unknown): Security {
  const machineScopes = Array.isArray(forMachines) ? forMachines.map(String) : [];
  const alternatives = Array.isArray(security) ? security.filter(isNode) : [];
  const bearer = alternatives.find((alternative) => Array.isArray(alternative.bearer));
  const anonymous =
    alternatives.length === 0 || alternatives.some((alternative) => Object.keys(alternative).length === 0);
  if (alternatives.some((alternative) => 'serviceToken' in alternative))
    return { access: 'service', scopes: [], machineScopes };
  if (bearer === undefined) return { access: 'public', scopes: [], machineScopes };
  return {
    access: anonymous ? 'optional' : 'required',
    scopes: (bearer.bearer as unknown[]).map(String),
    machineScopes,
  };
}
