// Generated query parameters: filters, sorting, pages, and texts that are none of them.
import { dereference, type Node, toNode } from '@shop/shared/contract';
import fc from 'fast-check';
import { often, plain, type Slot, slot, type Text } from './slots.ts';
import { times, wildText } from './values.ts';

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

const words = plain(
  fc.oneof(fc.constantFrom('lamp', 'desk lamp', 'caller', 'fuzz', 'mug wüte', '日本', '"a" & b | !c'), wildText),
);
const fieldLists = plain(
  fc
    .array(fc.constantFrom(...fieldNames, 'brand', 'category'), { minLength: 1, maxLength: 5 })
    .map((all) => all.join()),
);
const sorting = plain(
  fc
    .array(fc.tuple(fc.constantFrom(...fieldNames), fc.constantFrom('asc', 'desc', 'up', '')), {
      minLength: 1,
      maxLength: 4,
    })
    .map((all) => all.map(([field, direction]) => `${field}:${direction}`).join()),
);

/** Texts for the parameters that are neither a filter nor a search. */
const particular: Readonly<Record<string, fc.Arbitrary<Text>>> = {
  cursor: fc.oneof(
    slot('cursor').map((each): Text => [each]),
    slot('changesCursor').map((each): Text => [each]),
    fc.constant<Text>(['now']),
  ),
  types: plain(
    fc.constantFrom('product', 'order,return', 'account,product,tax-rate', 'product,product', 'order,', 'basket'),
  ),
  // The request waits for so many seconds.
  wait: plain(fc.constantFrom('0', '1', '2', '21', '-1', '')),
  limit: plain(
    fc.oneof(fc.integer({ min: 1, max: 100 }).map(String), fc.constantFrom('0', '1', '100', '101', '1.5', '')),
  ),
  sort: sorting,
  fields: fieldLists,
  facets: fieldLists,
  accountId: fc.oneof(
    fc.constantFrom<Text>(['me'], ['all']),
    slot('accountId').map((each): Text => [each]),
  ),
  email: slot('email').map((each) => [each]),
};

/** Texts for a parameter: those that it is meant for, its examples, and sometimes any text. */
export function queryTexts(document: Node, parameter: Node): fc.Arbitrary<Text> {
  const name = String(parameter.name);
  const examples = Object.values(toNode(parameter.examples))
    .flatMap((example) => [toNode(example).value].flat())
    .filter((value) => typeof value === 'string');
  const isFilter = dereference(document, parameter.schema).type === 'array';
  const meant = particular[name] ?? (isFilter ? conditions(name) : words);
  const given = examples.length === 0 ? meant : often(2, meant, plain(fc.constantFrom(...examples)));
  return often(8, given, plain(wildText));
}

/** The name and the text of a query parameter or a header field. */
export type Pair = readonly [string, Text];

/** Some of the known parameters, and sometimes others. */
export function queryPairs(known: readonly (readonly [string, fc.Arbitrary<Text>])[]): fc.Arbitrary<readonly Pair[]> {
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
