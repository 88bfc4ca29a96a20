// Generated request bodies.
import { type ContractOperation, dereference, type Node, toNode } from '@shop/shared/contract';
import fc from 'fast-check';
import { mutated, textChanges } from './mutations.ts';
import { often, Slot, share, slot } from './slots.ts';
import { type Hints, validValues, wildText } from './values.ts';

export interface PlannedBody {
  readonly value: unknown;
  /** Whether the value is a list that is written with one JSON value on each line. */
  readonly lines: boolean;
  readonly change: ((text: string) => Buffer) | undefined;
  readonly mediaType: string;
  readonly chunked: boolean;
}

/** Bodies of operations that take none. */
export const unexpectedBodies = often<PlannedBody | undefined>(
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

/** The beginning of the day, so that a run that is continued plans the same times. */
const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;

const hints: Hints = (name, schema) => {
  switch (name) {
    case 'productId':
      return often(8, slot('sellable'), slot('productId'));
    case 'quantity':
      return often(40, fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, 999, 1_000));
    case 'expectedUnitPrice':
    case 'expectedTotal':
      return often<unknown>(20, fc.constant(undefined), fc.constantFrom(0, 10, 1.005));
    case 'shippingMethodId':
    case 'discountCode':
    case 'quote':
      return often<unknown>(8, fc.constant(undefined), slot(name));
    case 'country':
      return fc.constantFrom('DE', 'DE', 'CH', 'US');
    case 'countries':
      return often<unknown>(2, fc.constant(undefined), fc.subarray(['DE', 'CH', 'US', 'JP'], { minLength: 1 }));
    case 'code':
      return fc.oneof(slot('newReference'), slot('discountCode'), fc.constant(undefined));
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
    case 'url':
      return often(
        6,
        fc.constantFrom('https://warehouse.example/shop', 'https://warehouse.example:8443/'),
        fc.constantFrom('http://warehouse.example/', 'https://[::ffff:127.0.0.1]/', 'https://0x7f.1/', 'https://\0/'),
      );
    case 'from':
      // Delivery times in days have a member of this name, too.
      if (schema.format !== 'date-time') return undefined;
      return fc.integer({ min: -25, max: 200 }).map((hours) => new Date(today - hours * 3_600_000).toISOString());
    case 'cursor':
      return slot('cursor');
    case 'name':
      // Names by language are objects.
      if (schema.type !== 'string') return undefined;
      return often(5, fc.constantFrom<unknown>('Enamel mug', 'Größe Lampe', 'Fuzz', '日本'), wildText);
    default:
      return undefined;
  }
};

/** Operations whose members depend on each other, so that few generated bodies are valid. */
const ruled = /ShippingMethod|TaxRate|Discount/;

/** Bodies of an operation: valid ones, and ones with one change in the value, the text or the media type. */
export function bodiesOf(document: Node, operation: ContractOperation, described: Node): fc.Arbitrary<PlannedBody> {
  const content = toNode(dereference(document, described.requestBody).content);
  const [mediaType = '', media] = Object.entries(content)[0] ?? [];
  const lines = operation.takesFile;
  const valid = lines
    ? importLines(document)
    : often(
        ruled.test(operation.operationId) ? 1 : 8,
        valuesOf(document, operation, toNode(media)),
        examplesOf(document, toNode(media)),
      );
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
    ...Object.values(toNode(media.examples)).map((each) => toNode(each).value),
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
  if (operation.operationId === 'createReturn' || operation.operationId === 'receiveReturn')
    return fc.oneof(fc.record({ lines: slot(`lines of ${operation.operationId}`) }), values);
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
