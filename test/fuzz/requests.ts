// Generated requests for every operation of the public contract: valid ones, and ones with something wrong.

import { staffScopes } from '@shop/accounts/operator';
import { type Contract, type ContractOperation, dereference, type Node, nodeOf } from '@shop/shared/contract';
import fc from 'fast-check';
import { mutated, textChanges } from './mutations.ts';
import { Slot, share } from './slots.ts';
import { type Hints, times, validValues, wildText } from './values.ts';

/** A text of which parts are filled when the request is sent. */
export type Text = readonly (string | Slot)[];

export interface PlannedBody {
  readonly value: unknown;
  /** Whether the value is a list that is written with one JSON value on each line. */
  readonly lines: boolean;
  readonly change: ((text: string) => Buffer) | undefined;
  readonly mediaType: string;
  readonly chunked: boolean;
}

export interface PlannedRequest {
  readonly operation: ContractOperation;
  readonly method: string;
  /** The values of the path parameters, by name. */
  readonly path: Readonly<Record<string, Text>>;
  /** Replaces the path, for a request that no operation takes. */
  readonly otherPath: string | undefined;
  /** Whether the request follows the `Link` of an earlier page instead. */
  readonly followsLink: boolean;
  readonly query: readonly (readonly [string, Text])[];
  readonly headers: readonly (readonly [string, Text])[];
  readonly caller: { readonly kind: string; readonly share: number };
  readonly body: PlannedBody | undefined;
}

const slot = (name: string): fc.Arbitrary<Slot> => share.map((pick) => new Slot(name, pick));
const often = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
const plain = (texts: fc.Arbitrary<string>): fc.Arbitrary<Text> => texts.map((text) => [text]);

/** Password checks take most of the processor time, and some operations end what others need. */
const weights: Readonly<Record<string, number>> = {
  registerAccount: 2,
  issueToken: 2,
  updateAccount: 6,
  eraseAccount: 1,
  confirmPasswordReset: 1,
  blockAccount: 1,
  endAccountSessions: 1,
  endOtherSessions: 1,
  endSession: 5,
  archiveProduct: 3,
  cancelOrder: 5,
  exportAccount: 3,
  createOrder: 16,
  recordPayment: 16,
  processOrder: 12,
};
const usualWeight = 8;

/** Generates requests for all operations of the contract. */
export function requestsFor({ document, operations }: Contract): fc.Arbitrary<PlannedRequest> {
  return fc.oneof(
    ...operations.map((operation) => ({
      weight: weights[operation.operationId] ?? usualWeight,
      arbitrary: requestsOf(document, operation),
    })),
  );
}

function requestsOf(document: Node, operation: ContractOperation): fc.Arbitrary<PlannedRequest> {
  const item = nodeOf(nodeOf(document.paths)[operation.path]);
  const described = nodeOf(item[operation.method]);
  const parameters = [item.parameters, described.parameters]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((parameter) => dereference(document, parameter));
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const method = operation.method.toUpperCase();
  const queries = named('query').map((parameter) => [String(parameter.name), queryTexts(document, parameter)] as const);
  const expected = named('header').map(({ name }) => String(name));
  return fc.record({
    operation: fc.constant(operation),
    method: often(
      40,
      fc.constant(method),
      fc.constantFrom('HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'GET', 'POST', 'PROPFIND', 'QUERY'),
    ),
    path: fc.record(Object.fromEntries(named('path').map(({ name }) => [String(name), pathTexts(String(name))]))),
    otherPath: often<string | undefined>(60, fc.constant(undefined), otherPaths(operation.path)),
    followsLink: fc.integer({ min: 0, max: 9 }).map((number) => number === 0 && method === 'GET'),
    query: queryPairs(queries),
    headers: fc
      .tuple(
        headersOf(expected),
        often<readonly Pair[]>(
          2,
          fc.constant([]),
          oddHeader.map((pair) => [pair]),
        ),
      )
      .map(([usual, odd]) => [...usual, ...odd]),
    caller: callersOf(operation),
    body: operation.body === undefined ? unexpectedBodies : bodiesOf(document, operation, described),
  });
}

// --- path

function pathTexts(name: string): fc.Arbitrary<Text> {
  const existing = slot(name).map((each): Text => [each]);
  const own = fc.constantFrom<Text>(['me'], [new Slot('ownAccountId', 0)]);
  const odd = fc.oneof(
    plain(fc.uuid({ version: 7 })),
    plain(fc.uuid({ version: 4 }).map((id) => id.toUpperCase())),
    plain(wildText.map((text) => text || 'x')),
    fc.constantFrom<Text>(['0'], ['null'], ['-1'], ['a b'], ['a/b'], ['a'.repeat(500)], ["' OR 1=1 --"], ['imports']),
  );
  return often(9, name === 'accountId' ? fc.oneof(own, existing) : existing, odd);
}

function otherPaths(path: string): fc.Arbitrary<string> {
  return fc.oneof(
    fc
      .constantFrom(
        `${path}/`,
        `/${path}`,
        `${path}/more`,
        path.toUpperCase(),
        path.replace('/v1', ''),
        path.replace('/v1', '/v2'),
        path.replace('/v1', '/internal'),
        `${path}/%zz`,
        `${path}/%00`,
        `${path}/%ff%fe`,
        `${path}/../..`,
        `${path};a=b`,
        '/',
        '/%2e%2e/v1/orders',
        '//evil.test/v1/orders',
        '/v1/orders/%2e%2e/products',
        `/${'x'.repeat(9_000)}`,
      )
      .filter((text) => text !== path)
      .map((text) => text.replaceAll(/\{\w+\}/g, 'x')),
    fc.webPath(),
  );
}

// --- query

const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'like', 'EQ', '', 'or'];
const decimals = fc.oneof(
  fc.integer({ min: -2, max: 200_000 }).map((cents) => String(cents / 100)),
  fc.constantFrom(
    '0',
    '-0',
    '1e3',
    '1e999',
    'NaN',
    'Infinity',
    '0x10',
    '1.005',
    '9'.repeat(40),
    '00',
    '+1',
    '1.',
    '.5',
  ),
);
const moments = fc.oneof(
  times,
  fc.constantFrom('2026-02-30T00:00:00Z', '2026-11-21', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'),
  fc.constantFrom('2026-11-21T00:00:00+14:00', '2026-12-31T23:59:60Z', '2026-11-21T00:00:00.1234567Z', '+275760-09-13'),
);

function conditionValues(name: string): fc.Arbitrary<string | Slot> {
  if (['price', 'rating', 'totalCost'].includes(name)) return decimals;
  if (['createdAt', 'updatedAt'].includes(name)) return moments;
  if (name === 'id') return fc.oneof(slot('orderId'), slot('productId'), fc.uuid());
  if (['inStock', 'archived'].includes(name)) return fc.constantFrom('true', 'false', '1', 'TRUE');
  if (name === 'status')
    return fc.constantFrom('pending', 'processing', 'shipped', 'delivered', 'cancelled', 'available', 'active', 'x');
  return fc.oneof(wildText, fc.constantFrom('Acme', '"Smith, Sons"', '"unclosed', '"a\\"b"', 'kitchen', 'lamp'));
}

function conditions(name: string): fc.Arbitrary<Text> {
  const one = fc
    .tuple(fc.option(fc.constantFrom(...operators), { freq: 3 }), conditionValues(name))
    .map(([operator, value]): Text => (operator === null ? [value] : [`${operator}:`, value]));
  return fc
    .array(one, { minLength: 1, maxLength: 4 })
    .map((all) => all.flatMap((each, index) => [...(index > 0 ? [','] : []), ...each]));
}

const fieldNames = [
  'id',
  'name',
  'price',
  'createdAt',
  'updatedAt',
  'totalCost',
  'status',
  'count',
  'rating',
  'stock',
  'x',
];

function queryTexts(document: Node, parameter: Node): fc.Arbitrary<Text> {
  const name = String(parameter.name);
  const examples = Object.values(nodeOf(parameter.examples))
    .flatMap((example) => [nodeOf(example).value].flat())
    .filter((value) => typeof value === 'string');
  const schema = dereference(document, parameter.schema);
  const meant: fc.Arbitrary<Text> =
    name === 'cursor'
      ? slot('cursor').map((each) => [each])
      : name === 'limit'
        ? plain(
            fc.oneof(fc.integer({ min: 1, max: 100 }).map(String), fc.constantFrom('0', '1', '100', '101', '1.5', '')),
          )
        : name === 'sort'
          ? plain(
              fc
                .array(fc.tuple(fc.constantFrom(...fieldNames), fc.constantFrom('asc', 'desc', 'up', '')), {
                  minLength: 1,
                  maxLength: 4,
                })
                .map((all) => all.map(([field, direction]) => `${field}:${direction}`).join()),
            )
          : name === 'fields' || name === 'facets'
            ? plain(
                fc
                  .array(fc.constantFrom(...fieldNames, 'brand', 'category'), { minLength: 1, maxLength: 5 })
                  .map((all) => all.join()),
              )
            : name === 'accountId'
              ? fc.oneof(
                  fc.constantFrom<Text>(['me'], ['all']),
                  slot('accountId').map((each): Text => [each]),
                )
              : name === 'email'
                ? slot('email').map((each) => [each])
                : schema.type === 'array'
                  ? conditions(name)
                  : plain(
                      fc.oneof(
                        fc.constantFrom('lamp', 'desk lamp', 'caller', 'fuzz', 'mug wüte', '日本', '"a" & b | !c'),
                        wildText,
                      ),
                    );
  const given = examples.length === 0 ? meant : often(2, meant, plain(fc.constantFrom(...examples)));
  return often(8, given, plain(wildText));
}

type Pair = readonly [string, Text];

function queryPairs(known: readonly (readonly [string, fc.Arbitrary<Text>])[]): fc.Arbitrary<readonly Pair[]> {
  const few = fc
    .subarray([...known], { maxLength: Math.min(3, known.length) })
    .chain((some) =>
      fc.tuple(...some.map(([name, texts]) => texts.map((text): Pair => [name, text]))).map((pairs): Pair[] => pairs),
    );
  const odd = fc.array(
    fc.tuple(
      fc.oneof(wildText, fc.constantFrom(...fieldNames, 'limit', 'attributes.colour', 'attributes.', 'q')),
      plain(wildText),
    ),
    { minLength: 1, maxLength: 3 },
  );
  return fc.tuple(few, often<readonly Pair[]>(12, fc.constant([]), odd)).map(([usual, more]) => [...usual, ...more]);
}

// --- headers

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
  Prefer: fc.constantFrom<Text>(
    ['return=minimal'],
    ['return=representation'],
    ['return="minimal"; x=1, wait=5'],
    ['='],
  ),
};

function headersOf(expected: readonly string[]): fc.Arbitrary<readonly Pair[]> {
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
const oddHeader: fc.Arbitrary<Pair> = fc
  .constantFrom(...Object.entries(headerChoices))
  .chain(([name, choices]) => often(6, fc.constantFrom(...choices), wildText).map((text): Pair => [name, [text]]));

// --- callers

function callersOf({ security }: ContractOperation): fc.Arbitrary<{ kind: string; share: number }> {
  const scope = security.scopes[0];
  const meant =
    scope === undefined
      ? ['customer', 'customer', 'customer', 'staff all']
      : [
          `staff ${scope}`,
          'staff all',
          `machine ${scope}`,
          'machine all',
          ...(security.access === 'optional' ? ['customer', 'anonymous'] : []),
        ];
  const kinds = [
    'anonymous',
    'customer',
    'broken',
    ...[...staffScopes, 'all'].flatMap((each) => [`staff ${each}`, `machine ${each}`]),
  ];
  return fc.record({ kind: often(5, fc.constantFrom(...meant), fc.constantFrom(...kinds)), share });
}

// --- bodies

const unexpectedBodies = often<PlannedBody | undefined>(
  9,
  fc.constant(undefined),
  fc.record({
    value: fc.jsonValue({ maxDepth: 2 }),
    lines: fc.constant(false),
    change: fc.constant(undefined),
    mediaType: fc.constantFrom('application/json', 'text/plain'),
    chunked: fc.boolean(),
  }),
);

const hints: Hints = (name) => {
  switch (name) {
    case 'productId':
      return often(8, slot('sellable'), slot('productId'));
    case 'quantity':
      return often(40, fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, 999, 1_000));
    case 'expectedUnitPrice':
    case 'expectedTotal':
      return often<unknown>(20, fc.constant(undefined), fc.constantFrom(0, 10, 1.005));
    case 'email':
      return fc.oneof(
        slot('newEmail'),
        slot('newEmail'),
        slot('email'),
        fc.constantFrom('ünï@exämple.test', ' Kim@Example.com ', 'a@b'),
      );
    case 'password':
      return often<unknown>(
        6,
        slot('newPassword'),
        fc.constantFrom('password', '12345678', '\0'.repeat(8), '\u{1f600}'.repeat(100)),
      );
    case 'current_password':
      return often(4, slot('password'), slot('newPassword'));
    case 'refresh_token':
      return slot('refreshToken');
    case 'token':
      return slot('token');
    case 'amount':
      return often<unknown>(5, slot('total'), fc.constantFrom(0, 0.01, 9.999, 1e12));
    case 'currency':
      return often(12, fc.constant('EUR'), fc.constantFrom('USD', 'EUX'));
    case 'reference':
      return often(4, slot('newReference'), slot('reference'));
    case 'sku':
    case 'externalKey':
      return fc.oneof(slot('newReference'), slot('sku'), fc.constantFrom<unknown>(undefined, 'MUG-1'));
    case 'cursor':
      return slot('cursor');
    case 'name':
      return often(5, fc.constantFrom<unknown>('Enamel mug', 'Größe Lampe', 'Fuzz', '日本'), wildText);
    default:
      return undefined;
  }
};

function bodiesOf(document: Node, operation: ContractOperation, described: Node): fc.Arbitrary<PlannedBody> {
  const content = nodeOf(dereference(document, described.requestBody).content);
  const [mediaType = '', media] = Object.entries(content)[0] ?? [];
  const lines = operation.takesFile;
  const valid = lines
    ? importLines(document)
    : often(8, valuesOf(document, operation, nodeOf(media)), examplesOf(document, nodeOf(media)));
  const otherTypes = [
    `${mediaType}; charset=utf-8`,
    `${mediaType};charset=latin1`,
    mediaType.toUpperCase(),
    'text/plain',
    'application/xml',
    ';',
    '',
  ];
  return fc.record({
    value: often(2, valid, mutated(valid)),
    lines: fc.constant(lines),
    change: often<PlannedBody['change']>(14, fc.constant(undefined), textChanges),
    mediaType: often(25, fc.constant(mediaType), fc.constantFrom(...otherTypes)),
    chunked: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  });
}

function examplesOf(document: Node, media: Node): fc.Arbitrary<unknown> {
  const schema = dereference(document, media.schema);
  const examples = [
    ...Object.values(nodeOf(media.examples)).map((each) => nodeOf(each).value),
    ...[schema.examples].flat(),
  ];
  return fc.constantFrom(...examples.filter((example) => example !== undefined), {});
}

function valuesOf(document: Node, operation: ContractOperation, media: Node): fc.Arbitrary<unknown> {
  const values = validValues(document, media.schema, hints);
  if (operation.operationId === 'issueToken')
    return fc.oneof(
      fc.record({ email: slot('callerEmail'), password: slot('password') }),
      fc.record({ refresh_token: slot('refreshToken') }),
      share.map((pick) => ({
        grant_type: 'client_credentials',
        client_id: new Slot('clientId', pick),
        client_secret: new Slot('clientSecret', pick),
      })),
      values,
    );
  if (operation.operationId === 'registerAccount')
    return fc.oneof(
      fc.record({ email: slot('newEmail'), name: fc.constant('Fuzz'), password: slot('newPassword') }),
      values,
    );
  // A change of the address, of which the shop sends e-mails with tokens.
  if (operation.operationId === 'updateAccount')
    return fc.oneof(fc.record({ email: slot('newEmail'), current_password: slot('password') }), values);
  // Products with units on hand, which can be ordered.
  if (operation.operationId === 'createProduct')
    return fc.tuple(values, fc.integer({ min: 0, max: 3 })).map(([value, number]) => {
      const product = value as Record<string, unknown>;
      return number === 0 ? product : { ...product, price: 9.5, stock: 1_000_000, status: 'available' };
    });
  return values;
}

function importLines(document: Node): fc.Arbitrary<unknown> {
  const product = validValues(document, { $ref: '#/components/schemas/NewProduct' }, hints);
  const line = product.map((value) => {
    const { sku, ...others } = value as Record<string, unknown>;
    return { externalKey: sku, ...others };
  });
  return fc.array(line, { minLength: 1, maxLength: 5 });
}
