// Parsed OpenAPI and AsyncAPI documents: reading them, looking at what is in them, and finding what they refer to.
import { readFileSync } from 'node:fs';
import { isNode, type Node, nodeOf, referenceTokens } from '@shop/shared/protocol';
import { parse } from 'yaml';

/** Any YAML document; nothing is asked of what is in it. */
export function readYaml(file: string): Node {
  return nodeOf(parse(readFileSync(file, 'utf8')));
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The node itself, or what its `$ref` leads to. */
export function follow(document: Node, value: unknown): Node {
  const node = nodeOf(value);
  if (typeof node.$ref !== 'string') return node;
  let target: unknown = document;
  for (const token of referenceTokens(node.$ref)) target = nodeOf(target)[token];
  return follow(document, target);
}

/** Every `$ref` in a value, in the order they stand there. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  );
}

/** A copy in which every `$ref` is what `rename` makes of it. */
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
