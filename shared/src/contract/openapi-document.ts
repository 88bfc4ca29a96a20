// Finds nodes, references and schemas in a parsed OpenAPI document.
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { escapePointer } from '../json/index.ts';

/** The key of the document in the validator. */
export const documentKey = 'contract';

/** The members of an object in a parsed OpenAPI document. Their types are checked where they are used. */
export type Node = Readonly<Record<string, unknown>>;

export interface Compiler {
  readonly ajv: Ajv2020;
  readonly document: Node;
}

/** Returns the errors of a value; none when the value conforms to the schema. */
export type SchemaCheck = (value: unknown) => readonly ErrorObject[];

/**
 * Returns the check of the schema at a location in the document. It is compiled at its first use, because compiling all
 * of them would delay the start.
 */
export function schemaAt({ ajv }: Compiler, at: readonly string[]): SchemaCheck {
  const pointer = at.map((token) => encodeURIComponent(escapePointer(token))).join('/');
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= ajv.compile({ $ref: `${documentKey}#/${pointer}` });
    return compiled(value) ? [] : (compiled.errors ?? []);
  };
}

/** Returns the node at a location, and its location, after following a `$ref` there. */
export function locate(document: Node, at: readonly string[]): { node: Node; at: readonly string[] } | undefined {
  let node: unknown = document;
  for (const token of at) node = (node as Node | undefined)?.[token];
  if (!isNode(node)) return undefined;
  if (typeof node.$ref !== 'string') return { node, at };
  return locate(document, referenceTokens(node.$ref));
}

/** Returns the node itself, or the target of its `$ref`; an empty node when the target does not exist. */
export function dereference(document: Node, value: unknown): Node {
  const node = toNode(value);
  return typeof node.$ref === 'string' ? (locate(document, referenceTokens(node.$ref))?.node ?? {}) : node;
}

/** Returns the tokens of a reference within the document: `#/components/schemas/Id` → components, schemas, Id. */
export function referenceTokens(reference: string): string[] {
  return reference
    .replace(/^#\//, '')
    .split('/')
    .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function toNode(value: unknown): Node {
  return isNode(value) ? value : {};
}
