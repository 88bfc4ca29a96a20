// The name that a client probably meant.
import { expect, it } from '@jest/globals';
import { nearestName } from '../../src/problem/index.ts';

it.each([
  ['reason', ['cancellation_reason', 'lines'], 'cancellation_reason'],
  ['cancellationReason', ['cancellation_reason', 'lines'], 'cancellation_reason'],
  ['product_id', ['productId', 'quantity'], 'productId'],
  ['quantitiy', ['productId', 'quantity'], 'quantity'],
  ['category', ['brands', 'categories'], 'categories'],
  ['prices', ['price', 'rating'], 'price'],
  ['colour', ['price', 'rating'], undefined],
  ['id', ['productId', 'accountId'], undefined],
  ['', ['a'], undefined],
  ['x'.repeat(10_000), ['price'], undefined],
])('the nearest name to %.20s among %j is %s', (given, names, expected) => {
  expect(nearestName(given, names)).toBe(expected);
});
