// Generated header fields.
import fc from 'fast-check';
import type { Pair } from './query.ts';
import { often, plain, slot, type Text } from './slots.ts';
import { wildText } from './values.ts';

const tags: fc.Arbitrary<Text> = fc.oneof(
  slot('tag').map((each): Text => [each]),
  slot('etag').map((each): Text => [each]),
  fc.constantFrom<Text>(
    ['*'],
    ['"1"'],
    ['W/"1"'],
    ['"1", "2"'],
    ['1'],
    ['"'],
    [''],
    ['"999999999999999999999"'],
    ['W/"1.1.1"'],
  ),
  plain(wildText),
);
const keys: fc.Arbitrary<Text> = fc.oneof(
  { weight: 4, arbitrary: plain(fc.uuid()) },
  { weight: 2, arbitrary: slot('key').map((each): Text => [each]) },
  { weight: 1, arbitrary: fc.constantFrom<Text>([''], ['k'.repeat(255)], ['k'.repeat(256)], ['é'], ['a b'], ['\t']) },
);
const usualHeaders: Readonly<Record<string, fc.Arbitrary<Text>>> = {
  'If-Match': tags,
  'If-None-Match': tags,
  'Idempotency-Key': keys,
  'Last-Event-ID': fc.oneof(
    slot('changesCursor').map((each): Text => [each]),
    fc.constantFrom<Text>([''], ['now'], ['x']),
  ),
  Prefer: fc.constantFrom<Text>(
    ['return=minimal'],
    ['return=representation'],
    ['return="minimal"; x=1, wait=5'],
    ['='],
  ),
};

/** Conditions, idempotency keys and preferences, mostly for operations that expect them. */
export function headersOf(expected: readonly string[]): fc.Arbitrary<readonly Pair[]> {
  const some = Object.entries(usualHeaders).map(([name, texts]) => {
    const present = fc.integer({ min: 0, max: expected.includes(name) ? 2 : 40 });
    return fc.tuple(present, texts).map(([number, text]): Pair[] => (number === 0 ? [[name, text]] : []));
  });
  return fc.tuple(...some).map((all) => all.flat());
}

const headerChoices: Readonly<Record<string, readonly string[]>> = {
  Accept: [
    '*/*',
    'application/json',
    'application/problem+json',
    'text/html',
    'application/json;q=0',
    '',
    ',',
    'a/b;q=x',
    'text/html, */*;q=0.1',
  ],
  'Accept-Encoding': ['gzip', 'identity', 'identity;q=0', '*;q=0', 'br, gzip;q=0.5'],
  'Accept-Language': ['de', 'de-CH, fr;q=0.5', '*', 'x'.repeat(300)],
  Range: ['bytes=0-10', 'bytes=5-', 'items=0-1', 'bytes=x'],
  Expect: ['100-continue', '200-ok', ''],
  traceparent: [
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '00-0-0-0',
    'ff-x',
    `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`,
  ],
  tracestate: ['a=b', ','.repeat(600)],
  'X-Request-Id': ['01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c70', 'x', 'x'.repeat(300), 'a b', ''],
  Origin: ['https://shop.example', 'null', 'x'],
  Authorization: ['Basic YTpi', 'Bearer', 'bearer x', 'Bearer a b', ''],
  'Content-Encoding': ['gzip', 'identity', 'deflate', 'x'],
  'Content-Type': [
    'application/json',
    'text/plain',
    'application/merge-patch+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    '',
  ],
  'Content-Language': ['de'],
  'X-Http-Method-Override': ['DELETE'],
  'X-Forwarded-Host': ['evil.test', '"'],
  'X-Forwarded-Proto': ['https', 'x'],
  Cookie: ['a=b; c=d', '='.repeat(1_000)],
  'User-Agent': ['', 'Mozilla/5.0', 'x'.repeat(2_000), '\xff\xfe\x80'],
  Connection: ['close', 'keep-alive, x-request-id'],
  'If-Modified-Since': ['Sat, 21 Nov 2026 03:00:00 GMT', 'yesterday'],
  'If-Unmodified-Since': ['Sat, 21 Nov 2020 03:00:00 GMT'],
  'If-Range': ['"1"'],
  'X-Long': ['x'.repeat(8_000), 'x'.repeat(15_000), 'x'.repeat(17_000)],
  'Max-Forwards': ['0'],
  Upgrade: ['websocket', 'h2c'],
};
/** A header field that most requests lack. */
export const oddHeader: fc.Arbitrary<Pair> = fc
  .constantFrom(...Object.entries(headerChoices))
  .chain(([name, choices]) => often(6, fc.constantFrom(...choices), wildText).map((text): Pair => [name, [text]]));
