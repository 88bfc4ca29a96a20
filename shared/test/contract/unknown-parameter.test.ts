// The remedy that the fault of an unknown parameter names.
import { expect, it } from '@jest/globals';
import { unknownParameter } from '../../src/contract/unknown-parameter.ts';

const known = ['price', 'createdAt', 'q', 'attributes.*', 'sort', 'limit', 'cursor'];

it.each([
  ['price[gte]', '10', 'write price=gte:10;'],
  ['price[$lt]', '10', 'write price=lt:10;'],
  ['price__gte', '10', 'write price=gte:10;'],
  ['price_gte', '10', 'write price=gte:10;'],
  ['price.gte', '10', 'write price=gte:10;'],
  ['filter[price]', '10', 'write price=10;'],
  ['attributes[colour]', 'red', 'write attributes.colour=red;'],
  ['attributes', 'red', 'did you mean attributes.*?'],
  ['min_price', '10', 'write price=gte:10;'],
  ['maxPrice', '10', 'write price=lte:10;'],
  ['price_max', '10', 'write price=lte:10;'],
  ['page[size]', '20', 'write limit;'],
  ['page[number]', '2', 'send the nextCursor of a page as cursor to get the next one;'],
  ['sort[price]', 'asc', 'write sort, as in sort=createdAt:desc;'],
  ['keyword', 'cup', 'write q;'],
  ['price>', '10', 'write price=gte:10;'],
  ['price<', '10', 'write price=lte:10;'],
  ['price!', '10', 'write price=ne:10;'],
  ['price>10', '', 'write price=gt:10;'],
  ['page', '2', 'send the nextCursor of a page as cursor to get the next one;'],
  ['offset', '20', 'send the nextCursor of a page as cursor to get the next one;'],
  ['per_page', '20', 'write limit;'],
  ['sort_by', 'price', 'write sort, as in sort=createdAt:desc;'],
  ['search', 'cup', 'write q;'],
  ['created_at', 'x', 'did you mean createdAt?'],
  ['prise', '10', 'did you mean price?'],
  ['colour[gte]', '10', undefined],
  ['colour', 'red', undefined],
])('the unknown parameter %s=%s returns "%s"', (name, value, remedy) => {
  const expected = remedy === undefined ? '' : ` ${remedy}`;
  expect(unknownParameter(name, value, known)).toBe(
    `is not a known parameter;${expected} known are price, createdAt, q, attributes.*, sort, limit, cursor`,
  );
});

it('an unknown parameter of an operation without parameters has no proposal', () => {
  expect(unknownParameter('page', '2', [])).toBe('is not a known parameter; this address has none');
});
