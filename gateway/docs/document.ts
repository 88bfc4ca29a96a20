// Parsed OpenAPI and AsyncAPI documents: looking at what is in them, and finding what they refer to.

/** Members of a parsed document; what is behind them is looked at where it is used. */
export type Node = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function nodeOf(value: unknown): Node {
  return isNode(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The tokens of a reference within the document: `#/components/schemas/Id` → components, schemas, Id. */
export function referenceTokens(reference: string): string[] {
  return reference
    .replace(/^#\//, '')
    .split('/')
    .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
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
