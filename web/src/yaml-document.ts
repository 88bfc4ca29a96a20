// Reads strings and references of parsed OpenAPI and AsyncAPI documents.
import { isNode, type Node, referenceTokens, toNode } from '@shop/shared/contract';

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns every `$ref` in a value, in document order. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  );
}

/** Returns a copy with every `$ref` replaced by the result of `rename`. */
export function withReferences(value: unknown, rename: (reference: string) => string): unknown {
  if (Array.isArray(value)) return value.map((member) => withReferences(member, rename));
  if (!isNode(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string' ? rename(member) : withReferences(member, rename),
    ]),
  );
}

/** Returns the components that a value refers to, directly or indirectly. References without a target are omitted. */
export function reachable(document: Node, value: unknown): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const open = referencesIn(value);
  for (let reference = open.pop(); reference !== undefined; reference = open.pop()) {
    if (found.has(reference)) continue;
    let target: unknown = document;
    for (const token of referenceTokens(reference)) target = toNode(target)[token];
    if (target === undefined) continue;
    found.set(reference, target);
    open.push(...referencesIn(target));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
