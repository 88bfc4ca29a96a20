// Values that a schema of the contracts accepts, for the part of JSON Schema that the contracts use.
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';
import fc from 'fast-check';

/** Returns the values of a member that matter more than others that its schema accepts; undefined for most members. */
export type Hints = (name: string, schema: Node) => fc.Arbitrary<unknown> | undefined;

const deepest = 5;

/** Any text, also with control characters, NUL and lone surrogates. */
export const wildText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', ' ', '\0', 'a\0b', '\ud800', 'x\udfff', '\u202e', '__proto__', 'constructor', 'é'.repeat(300)),
);

/** Generates values that the schema accepts, as far as it can be read without a validator. */
export function validValues(document: Node, given: unknown, hints: Hints, depth = 0): fc.Arbitrary<unknown> {
  const schema = resolved(document, given);
  const alternatives = [schema.oneOf, schema.anyOf].find(Array.isArray);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (alternatives !== undefined)
    return fc.oneof(...alternatives.map((each) => validValues(document, each, hints, depth)));
  if (depth > deepest) return fc.constant(null);
  const types = [schema.type].flat();
  const type = types.find((each) => each !== 'null');
  const value =
    type === 'object' || isNode(schema.properties)
      ? objects(document, schema, hints, depth)
      : type === 'array'
        ? arrays(document, schema, hints, depth)
        : type === 'integer' || type === 'number'
          ? numbers(schema, type === 'integer')
          : type === 'boolean'
            ? fc.boolean()
            : type === 'string'
              ? texts(schema)
              : fc.jsonValue({ maxDepth: 2 });
  return types.includes('null') ? fc.option(value, { freq: 3 }) : value;
}

/** Follows `$ref` and joins `allOf`, with the members beside them. */
function resolved(document: Node, given: unknown): Node {
  const own = toNode(given);
  const target = dereference(document, own);
  const joined = Array.isArray(target.allOf) ? target.allOf.map((part) => resolved(document, part)) : [];
  const { $ref: _, ...beside } = own;
  return Object.assign({}, ...joined, target, beside) as Node;
}

function objects(document: Node, schema: Node, hints: Hints, depth: number): fc.Arbitrary<unknown> {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = Object.entries(toNode(schema.properties)).map(([name, member]) => {
    const hinted = hints(name, resolved(document, member));
    return [name, hinted ?? validValues(document, member, hints, depth + 1)] as const;
  });
  const known = fc.record(Object.fromEntries(members), {
    requiredKeys: members.map(([name]) => name).filter((name) => required.has(name)),
  });
  if (!isNode(schema.additionalProperties)) return known;
  const names = fc.stringMatching(/^[a-z][A-Za-z0-9]{0,10}$/);
  const value = validValues(document, schema.additionalProperties, hints, depth + 1);
  return fc.tuple(known, fc.dictionary(names, value, { maxKeys: 4 })).map(([object, more]) => ({ ...more, ...object }));
}

function arrays(document: Node, schema: Node, hints: Hints, depth: number): fc.Arbitrary<unknown> {
  const least = Number(schema.minItems ?? 0);
  const most = Math.max(least, Math.min(Number(schema.maxItems ?? 4), 4));
  const item = validValues(document, schema.items, hints, depth + 1);
  const options = { minLength: least, maxLength: most };
  return schema.uniqueItems === true ? fc.uniqueArray(item, options) : fc.array(item, options);
}

function numbers(schema: Node, integer: boolean): fc.Arbitrary<number> {
  const least = Number(schema.minimum ?? -1_000_000);
  const most = Number(schema.maximum ?? 1_000_000);
  const inner = integer
    ? fc.integer({ min: Math.ceil(least), max: Math.floor(most) })
    : fc
        .integer({ min: Math.ceil(least * 100), max: Math.floor(Math.min(most, 20_000_000) * 100) })
        .map((n) => n / 100);
  const small = Math.min(most, Math.max(least, 1));
  return fc.oneof({ weight: 6, arbitrary: inner }, { weight: 3, arbitrary: fc.constantFrom(least, small, most) });
}

function texts(schema: Node): fc.Arbitrary<string> {
  const least = Number(schema.minLength ?? 0);
  const most = Math.max(least, Math.min(Number(schema.maxLength ?? 60), 300));
  if (schema.format === 'uuid') return fc.uuid({ version: 7 });
  if (schema.format === 'date-time') return times;
  const matching = typeof schema.pattern === 'string' ? textsMatching(schema.pattern, most) : undefined;
  if (matching !== undefined) return matching;
  const word = fc.string({ minLength: Math.max(least, 1), maxLength: Math.max(most, 1) });
  return fc.oneof(
    word,
    fc.string({ unit: 'grapheme', minLength: Math.max(least, 1), maxLength: Math.max(Math.min(most, 20), 1) }),
    fc.constant('x'.repeat(Number(schema.maxLength ?? 60))),
  );
}

/** The texts of each pattern and length, because fast-check takes long to prepare them. */
const prepared = new Map<string, fc.Arbitrary<string> | undefined>();

/**
 * @returns undefined for classes such as \p{L}, from which fast-check cannot generate; plain words match these patterns
 */
function textsMatching(source: string, most: number): fc.Arbitrary<string> | undefined {
  const key = `${most} ${source}`;
  if (!prepared.has(key)) prepared.set(key, prepareTexts(new RegExp(source, 'u'), most));
  return prepared.get(key);
}

function prepareTexts(pattern: RegExp, most: number): fc.Arbitrary<string> | undefined {
  try {
    return fc.stringMatching(pattern, { maxLength: most }).filter((text) => pattern.test(text));
  } catch {
    return undefined;
  }
}

export const times: fc.Arbitrary<string> = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
