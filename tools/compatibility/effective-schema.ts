// One schema from a schema and all that it refers to by `$ref` and `allOf`, so that two schemas can be compared keyword by
// keyword, however they are divided into components.
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';

/** Keywords that describe a schema and do not restrict values. */
const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'summary',
  'example',
  'examples',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

/** Whether the keyword describes the schema and restricts no value. */
export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword) || keyword.startsWith('x-');
}

/** The target of a schema that is only a reference; otherwise the schema itself. `true` is `{}`, `false` is `{ not: {} }`. */
export function targetOf(document: Node, schema: unknown): Node {
  if (schema === false) return { not: {} };
  const node = toNode(schema);
  if (typeof node.$ref !== 'string') return node;
  const further = Object.keys(node).filter((keyword) => keyword !== '$ref' && !isAnnotation(keyword));
  return further.length > 0 ? node : targetOf(document, dereference(document, { $ref: node.$ref }));
}

/** The schema with its references and the members of `allOf` merged, without annotations. */
export function effectiveSchema(document: Node, schema: unknown): Node {
  return layersOf(document, schema, new Set()).reduce(merge, {});
}

function layersOf(document: Node, schema: unknown, seen: ReadonlySet<Node>): Node[] {
  const target = targetOf(document, schema);
  if (seen.has(target)) return [];
  const inner = new Set([...seen, target]);
  const { $ref, allOf, ...own } = target;
  const named = typeof $ref === 'string' ? layersOf(document, { $ref }, inner) : [];
  const parts = Array.isArray(allOf) ? allOf.flatMap((part) => layersOf(document, part, inner)) : [];
  const { const: only, ...keywords } = own;
  const kept = Object.entries(keywords).filter(([keyword]) => !isAnnotation(keyword));
  return [...named, ...parts, Object.fromEntries('const' in own ? [...kept, ['enum', [only]]] : kept)];
}

const lowest: ReadonlySet<string> = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);
const highest: ReadonlySet<string> = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);

/** Both schemas hold. */
function merge(first: Node, second: Node): Node {
  const merged: Record<string, unknown> = { ...first };
  for (const [keyword, value] of Object.entries(second)) {
    merged[keyword] = keyword in first ? both(keyword, first[keyword], value) : value;
  }
  return merged;
}

function both(keyword: string, first: unknown, second: unknown): unknown {
  if (keyword === 'properties' && isNode(first) && isNode(second)) {
    const shared = Object.keys(first).filter((name) => name in second);
    return {
      ...first,
      ...second,
      ...Object.fromEntries(shared.map((name) => [name, { allOf: [first[name], second[name]] }])),
    };
  }
  if (keyword === 'required') return [...new Set([...listOf(first), ...listOf(second)])];
  if (keyword === 'type') {
    const permitted = listOf(second);
    return listOf(first).filter(
      (type) => permitted.includes(type) || (type === 'integer' && permitted.includes('number')),
    );
  }
  if (keyword === 'enum') return listOf(first).filter((value) => textsOf(second).has(JSON.stringify(value)));
  if (lowest.has(keyword)) return Math.min(Number(first), Number(second));
  if (highest.has(keyword)) return Math.max(Number(first), Number(second));
  if (['items', 'additionalProperties', 'propertyNames'].includes(keyword)) return { allOf: [first, second] };
  return JSON.stringify(first) === JSON.stringify(second) ? first : [first, second];
}

/** The items of a list, or the value itself as a list. */
export function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function textsOf(value: unknown): Set<string> {
  return new Set(listOf(value).map((item) => JSON.stringify(item)));
}

const allTypes = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];

/** The types of the values that a schema permits. A number includes integers. */
export function typesOf({ type, enum: values }: Node): string[] {
  const named =
    type === undefined
      ? allTypes
      : listOf(type).flatMap((each) => (each === 'number' ? ['integer', each] : [String(each)]));
  if (!Array.isArray(values)) return named;
  const used = new Set(values.map(typeOf));
  return named.filter((each) => used.has(each));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
