// Parsed OpenAPI and AsyncAPI documents: reading them, and what is in them: texts and references.
import { readFileSync } from 'node:fs';
import { isNode, type Node, nodeOf } from '@shop/shared/protocol';
import { parse } from 'yaml';

/** Any YAML document; nothing is asked of what is in it. */
export function readYaml(file: string): Node {
  return nodeOf(parse(readFileSync(file, 'utf8')));
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
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
