// Step `match-operation`: finds the operation of the contract that a request calls. A path outside the contract does
// not exist.
import { type OperationOutline, outlineOperations, readDocument } from '@shop/shared/contract';
import { contentTooLarge, Problem } from '@shop/shared/problem';
import { noSuchAddress } from './no-such-address.ts';
import type { Step } from './policy.ts';
import { bodyBound } from './request-body.ts';

interface PathNode {
  readonly literal: Map<string, PathNode>;
  parameter: PathNode | undefined;
  /** Upper-case method → operation, when a path ends at this node. */
  readonly operations: Map<string, OperationOutline>;
}

export interface PublicOperations {
  readonly ids: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
  readonly root: PathNode;
}

/** @throws when the file is missing or is not an OpenAPI document */
export function readPublicOperations(file: string): PublicOperations {
  const ids = new Set<string>();
  const paths = new Set<string>();
  const root = emptyNode();
  for (const entry of outlineOperations(readDocument(file))) {
    let node = root;
    for (const segment of entry.path.split('/')) node = childFor(node, segment);
    // The path of an internal operation gets a node without a method: no parameter matches it, and the response is 404.
    if (entry.internal || entry.security.access === 'service') continue;
    ids.add(entry.operationId);
    paths.add(entry.path);
    node.operations.set(entry.method.toUpperCase(), entry);
  }
  return { ids, paths, root };
}

/**
 * Sets the operation of the request. OPTIONS of a known path has none.
 * @param maximumBody the maximum bytes of a body that is not a file
 * @throws Problem 404 for an unknown path, 405 with `Allow` for an unknown method, 413 for a body with a declared
 * length that is too large
 */
export function matchOperation({ paths, root }: PublicOperations, maximumBody: number): Step {
  return (request) => {
    const found = findPath(root, request.path);
    if (found === undefined) throw noSuchAddress(request.path, paths);
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    request.operation = found.operations.get(method);
    if (request.operation === undefined && method !== 'OPTIONS') throw notAllowed(found, method);
    const bound = bodyBound(request.operation, maximumBody);
    if (Number(request.headers['content-length'] ?? 0) > bound) throw contentTooLarge(bound);
    return undefined;
  };
}

function childFor(node: PathNode, segment: string): PathNode {
  if (segment.startsWith('{')) {
    node.parameter ??= emptyNode();
    return node.parameter;
  }
  const child = node.literal.get(segment) ?? emptyNode();
  node.literal.set(segment, child);
  return child;
}

/**
 * Returns the node of a path. A literal segment takes precedence over a parameter: `/v1/products/search` is not a
 * product.
 */
function findPath(root: PathNode, path: string): PathNode | undefined {
  let node: PathNode | undefined = root;
  for (const segment of path.split('/')) {
    node = node.literal.get(segment) ?? node.parameter;
    if (node === undefined) return undefined;
  }
  return node.operations.size > 0 ? node : undefined;
}

function notAllowed({ operations }: PathNode, method: string): Problem {
  const allowed = [...operations.keys(), ...(operations.has('GET') ? ['HEAD'] : []), 'OPTIONS'];
  const headers = { Allow: allowed.sort().join(', ') };
  return new Problem('method-not-allowed', `The method ${method} is not supported here; ${headers.Allow} are.`, {
    headers,
  });
}

function emptyNode(): PathNode {
  return { literal: new Map(), parameter: undefined, operations: new Map() };
}
