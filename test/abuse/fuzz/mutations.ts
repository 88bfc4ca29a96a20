// Changes one thing in a valid value, or in the bytes of a valid body.
import fc from 'fast-check';
import { Literal, Slot, share } from './slots.ts';
import { wildText } from './values.ts';

const nested = (open: string, close: string, times: number): string => `${open.repeat(times)}${close.repeat(times)}`;

/** Replacements of any value. */
const replacements: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1,
    0.1,
    '',
    [],
    {},
    [null],
    { a: 1 },
    1e21,
    2 ** 53,
    -(2 ** 31) - 1,
  ),
  fc
    .constantFrom('1e999', '-1e999', '-0', '-0.0', '1E400', '0.1e-400', '9'.repeat(400))
    .map((text) => new Literal(text)),
  fc.constantFrom('a'.repeat(201), 'a'.repeat(5_001), '\u{20000}'.repeat(2_000), '\\u0000'),
  fc
    .constantFrom(
      nested('[', ']', 100),
      nested('[', ']', 5_000),
      nested('{"a":', '}', 0),
      `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
    )
    .map((text) => new Literal(text)),
  wildText,
  fc.jsonValue({ maxDepth: 3 }),
);

interface Mutation {
  readonly place: number;
  readonly kind: 'replace' | 'step' | 'remove' | 'add' | 'wrap' | 'duplicate';
  readonly value: unknown;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: share,
  kind: fc.constantFrom('replace', 'replace', 'step', 'remove', 'add', 'wrap', 'duplicate'),
  value: replacements,
});

/** Values of which one part, at any depth, is changed. */
export function mutated(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(values, mutation).map(([value, change]) => changeOne(value, change));
}

function isParent(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === 'object' && value !== null && !(value instanceof Slot) && !(value instanceof Literal);
}

/** The places below a value, as lists of keys. */
function placesIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (!isParent(value)) return [at];
  return [at, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...at, key]))];
}

function changeOne(value: unknown, change: Mutation): unknown {
  const places = placesIn(value);
  return changeAt(value, places[Math.floor(change.place * places.length)] ?? [], change);
}

function changeAt(value: unknown, [key, ...rest]: readonly string[], change: Mutation): unknown {
  if (key === undefined) return changed(value, change);
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? changeAt(item, rest, change) : item));
  const parent = value as Record<string, unknown>;
  if (rest.length > 0 || change.kind !== 'remove') return { ...parent, [key]: changeAt(parent[key], rest, change) };
  const { [key]: _, ...others } = parent;
  return others;
}

function changed(value: unknown, { kind, value: replacement }: Mutation): unknown {
  if (kind === 'wrap') return [value];
  if (kind === 'add' && isParent(value) && !Array.isArray(value)) return { ...value, unknownMember: replacement };
  if (kind === 'step' && typeof value === 'number') return value + 1;
  if (kind === 'step' && typeof value === 'string') return `${value}${value}x`;
  if (kind === 'duplicate' && Array.isArray(value)) return [...value, ...value, ...value];
  return replacement;
}

/** Changes the text of a body: duplicate keys, other encodings, and text that is not JSON. */
export const textChanges: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
  fc.constantFrom<(text: string) => Buffer>(
    (text) => Buffer.from(text.replace(/^\{/, '{"name":1,"name":2,')),
    (text) => Buffer.from(text.replace(/^\{(.*)\}$/s, '{$1,$1}')),
    (text) => Buffer.from(`\ufeff${text}`),
    (text) => Buffer.from(text, 'utf16le'),
    (text) => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xfe])]),
    (text) => Buffer.from(`${text}${text}`),
    (text) => Buffer.from(text.replaceAll('"', "'")),
    (text) => Buffer.from(text.replaceAll(',', ',,')),
    (text) => Buffer.from(`${text.slice(0, -1)},"__proto__":{"a":1}}`),
    (text) => Buffer.from(`[${text}]`),
    (text) => Buffer.from(' '.repeat(20_000) + text),
    (text) => Buffer.from(text + ' '.repeat(110_000)),
    () => Buffer.from(''),
    () => Buffer.from('null'),
    () => Buffer.from('NaN'),
    () => Buffer.from('[]'),
    () => Buffer.from('{'),
    () => Buffer.from('"\\ud800"'),
    () => Buffer.from('['.repeat(50_000)),
    () => Buffer.from(`${'{"or":[{"price":'.repeat(900)}1`),
  ),
  share.map((part) => (text: string) => Buffer.from(text.slice(0, part * text.length))),
  fc.tuple(share, fc.uint8Array({ minLength: 1, maxLength: 4 })).map(([part, bytes]) => (text: string) => {
    const at = Math.floor(part * text.length);
    return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at + 1))]);
  }),
);
