// Policy `operation`: which operation of the service's contract this is. What the contract lacks does not exist.
import { isAbsolute, join } from 'node:path';
import { type OperationOutline, outlineOperations, Problem, readDocument } from '@shop/shared/protocol';
import { actionSchema, type Policy } from './gateway-request.ts';

interface PathNode {
  readonly literal: Map<string, PathNode>;
  parameter: PathNode | undefined;
  /** Upper-case method → operation, when the path ends here. */
  readonly operations: Map<string, OperationOutline>;
}

/**
 * Reads the contract at `action.contract` (relative to the configuration folder) when the pipeline is built.
 * @param known gets the id of every operation that can be reached
 */
export function operation(folder: string, known: Set<string>): Policy {
  return {
    name: 'operation',
    schema: actionSchema('operation', { contract: { type: 'string' } }),
    policy({ contract }: { contract: string }) {
      const file = isAbsolute(contract) ? contract : join(folder, contract);
      const root = buildPaths(outlineOperations(readDocument(file)), known);
      return (request, _response, next) => {
        const found = findPath(root, request.path);
        if (found === undefined) throw new Problem('not-found', 'There is nothing at this address.');
        const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
        request.operation = found.operations.get(method);
        if (request.operation === undefined && method !== 'OPTIONS') throw notAllowed(found, method);
        next();
      };
    },
  };
}

function buildPaths(operations: readonly OperationOutline[], known: Set<string>): PathNode {
  const root = emptyNode();
  for (const entry of operations) {
    let node = root;
    for (const segment of entry.path.split('/')) node = childFor(node, segment);
    // What services say to each other is not for anybody outside: its path is known, so that no parameter matches it,
    // and nothing is there.
    if (entry.internal || entry.security.access === 'service') continue;
    known.add(entry.operationId);
    node.operations.set(entry.method.toUpperCase(), entry);
  }
  return root;
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

/** A literal segment goes before a parameter: `/v1/products/search` is no product. */
function findPath(root: PathNode, path: string): PathNode | undefined {
  let node: PathNode | undefined = root;
  for (const segment of path.split('/')) {
    node = node.literal.get(segment) ?? node.parameter;
    if (node === undefined) return undefined;
  }
  return node.operations.size > 0 ? node : undefined;
}

function notAllowed({ operations }: PathNode, method: string): Problem {
  const known = [...operations.keys(), ...(operations.has('GET') ? ['HEAD'] : []), 'OPTIONS'];
  const headers = { Allow: known.sort().join(', ') };
  return new Problem('method-not-allowed', `The method ${method} is not supported here.`, { headers });
}

function emptyNode(): PathNode {
  return { literal: new Map(), parameter: undefined, operations: new Map() };
}
