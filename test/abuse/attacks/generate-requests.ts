// Arbitrary requests for an operation of a contract, from its parameters and the schema of its body.
import { dereference, isNode, type Node, type OperationOutline, toNode } from '@shop/shared/contract';
import type { CallOptions } from '@shop/shared/testing';
import fc from 'fast-check';
import { encoded, sendable } from '../../request-text.ts';
import type { ServiceName } from './stage.ts';

export interface AttackedOperation {
  readonly service: ServiceName;
  readonly document: Node;
  readonly path: string;
  readonly method: OperationOutline['method'];
  /** The path item. */
  readonly item: Node;
}

export interface GeneratedRequest {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
  readonly options: CallOptions;
}

const deepest = 4;
const wildText = fc.string({ unit: 'binary', maxLength: 40 });
const wild: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  wildText,
  fc.constantFrom('', '\0', '\ud800', '__proto__', 'a'.repeat(5_000), 1e308, -0, 9_007_199_254_740_992, [], {}, null),
);

/** @param ids the existing ids, by the name of a path parameter */
export function requestsOf(
  { service, document, path, method, item }: AttackedOperation,
  ids: Readonly<Record<string, readonly string[]>>,
  tokens: readonly (string | undefined)[],
): fc.Arbitrary<GeneratedRequest> {
  const operation = toNode(item[method]);
  const parameters = [item.parameters, operation.parameters]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((parameter) => dereference(document, parameter));
  const inPlace = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const textsOf = (parameter: Node): fc.Arbitrary<string> =>
    mostly(arbitraryOf(document, parameter.schema, 0).map(String), wildText);
  const [mediaType = '', content] =
    Object.entries(toNode(dereference(document, operation.requestBody).content))[0] ?? [];
  const isFile = content !== undefined && mediaType === 'application/x-ndjson';
  const body = content === undefined ? fc.constant(undefined) : arbitraryOf(document, toNode(content).schema, 0);
  return fc
    .record({
      path: fc.record(
        Object.fromEntries(
          inPlace('path').map(({ name }) => [
            String(name),
            fc.oneof(fc.constantFrom(...(ids[String(name)] ?? ['x'])), fc.uuid({ version: 7 }), wildText),
          ]),
        ),
      ),
      query: fc.record(
        Object.fromEntries(inPlace('query').map((parameter) => [String(parameter.name), textsOf(parameter)])),
        { requiredKeys: [] },
      ),
      more: fc.option(fc.tuple(wildText, wildText), { nil: undefined, freq: 10 }),
      headers: fc.record(
        Object.fromEntries(inPlace('header').map((parameter) => [String(parameter.name), textsOf(parameter)])),
        { requiredKeys: [] },
      ),
      token: fc.constantFrom(...tokens),
      body: mostly(body, wild),
    })
    .map(({ path: named, query, more, headers, token, body: value }) => {
      const target = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(String(named[name])) || 'x');
      const pairs = [...Object.entries(query), ...(more === undefined ? [] : [more])];
      const search = pairs.map(([name, text]) => `${segment(name)}=${segment(text ?? '')}`).join('&');
      return {
        service,
        method: method.toUpperCase(),
        path: search === '' ? target : `${target}?${search}`,
        options: {
          headers: {
            ...(isFile ? { 'Content-Type': mediaType } : {}),
            ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, sendable(text ?? '')])),
          },
          ...(token === undefined ? {} : { token }),
          ...(content === undefined || value === undefined
            ? {}
            : isFile
              ? { rawBody: String(value) }
              : { body: value }),
        },
      };
    });
}

/** One segment of a path or a part of a query. Segments of dots would make another path of it. */
const segment = (text: string): string => encoded(text).replace(/^\.{1,2}$/, 'x');

/** Usually a valid value, and sometimes any value. */
function mostly<T>(meant: fc.Arbitrary<T>, anything: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 6, arbitrary: meant }, { weight: 1, arbitrary: anything });
}

function arbitraryOf(document: Node, given: unknown, depth: number): fc.Arbitrary<unknown> {
  const schema = dereference(document, given);
  const alternatives = [schema.oneOf, schema.anyOf].find(Array.isArray);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((each) => arbitraryOf(document, each, depth)));
  if (depth > deepest) return fc.constant(null);
  const types = [schema.type].flat();
  const type = types.find((each) => each !== 'null');
  const value =
    type === 'object' || isNode(schema.properties)
      ? objectOf(document, schema, depth)
      : type === 'array'
        ? arrayOf(document, schema, depth)
        : type === 'integer' || type === 'number'
          ? numberOf(schema, type === 'integer')
          : type === 'boolean'
            ? fc.boolean()
            : type === 'string'
              ? textOf(schema)
              : wild;
  return types.includes('null') ? fc.option(value) : value;
}

function objectOf(document: Node, schema: Node, depth: number): fc.Arbitrary<unknown> {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = Object.entries(toNode(schema.properties)).map(
    ([name, member]) => [name, mostly(arbitraryOf(document, member, depth + 1), wild)] as const,
  );
  const known = fc.record(Object.fromEntries(members), {
    requiredKeys: members.map(([name]) => name).filter((name) => required.has(name)),
  });
  const value = isNode(schema.additionalProperties)
    ? arbitraryOf(document, schema.additionalProperties, depth + 1)
    : wild;
  const added = fc.dictionary(wildText, value, { maxKeys: 3 });
  const open = schema.additionalProperties !== false && schema.additionalProperties !== undefined;
  return fc
    .tuple(known, open ? added : fc.option(added, { nil: {}, freq: 12 }), fc.option(fc.constantFrom(...required, 'x')))
    .map(([object, more, missing]) => {
      const all: Record<string, unknown> = { ...object, ...more };
      // One request in six lacks a required member.
      if (missing !== null && Object.keys(all).length % 6 === 5) delete all[String(missing)];
      return all;
    });
}

function arrayOf(document: Node, schema: Node, depth: number): fc.Arbitrary<unknown> {
  const longest = Math.min(Number(schema.maxItems ?? 5) + 1, 12);
  const shortest = Math.max(Number(schema.minItems ?? 0) - 1, 0);
  return fc.array(arbitraryOf(document, schema.items, depth + 1), { minLength: shortest, maxLength: longest });
}

function numberOf(schema: Node, integer: boolean): fc.Arbitrary<unknown> {
  const least = Number(schema.minimum ?? -1_000_000);
  const most = Number(schema.maximum ?? 1_000_000);
  const bounds = fc.constantFrom(least, most, least - 1, most + 1, 0, 0.1, -1);
  return fc.oneof(
    bounds,
    integer
      ? fc.integer({ min: Math.ceil(least), max: Math.floor(most) })
      : fc.integer({ min: Math.ceil(least) * 100, max: Math.floor(most) * 100 }).map((cents) => cents / 100),
  );
}

function textOf(schema: Node): fc.Arbitrary<unknown> {
  if (schema.format === 'uuid') return fc.uuid({ version: 7 });
  if (schema.format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (typeof schema.pattern === 'string') {
    try {
      return fc.stringMatching(new RegExp(schema.pattern, 'u'), { maxLength: 100 });
    } catch {
      // No text can be generated from the pattern, for example because it has a look-ahead.
    }
  }
  const least = Math.max(Number(schema.minLength ?? 0) - 1, 0);
  const most = Math.min(Number(schema.maxLength ?? 60) + 1, 300);
  return fc.oneof(
    fc.string({ minLength: least, maxLength: most }),
    fc.string({ unit: 'grapheme', minLength: least, maxLength: most }),
    fc.constant('x'.repeat(most)),
  );
}
