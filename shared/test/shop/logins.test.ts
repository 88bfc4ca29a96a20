// The logins of a role, as secrets contain them.
import { expect, it } from '@jest/globals';
import { readLogins } from '../../src/shop/index.ts';

it.each([
  ['only a password', 'abc', [{ name: 'orders', password: 'abc' }]],
  ['a password with the separators', 'a,b:c', [{ name: 'orders', password: 'a,b:c' }]],
  ['a password that contains the name', 'x,orders:y', [{ name: 'orders', password: 'x,orders:y' }]],
  [
    'a password in place of a login without one',
    'orders:,orders_2:b',
    [{ name: 'orders', password: 'orders:,orders_2:b' }],
  ],
  ['one further login', 'orders_2:abc', [{ name: 'orders_2', password: 'abc' }]],
  [
    'two logins, the used one first',
    'orders_3:c,orders:a',
    [
      { name: 'orders_3', password: 'c' },
      { name: 'orders', password: 'a' },
    ],
  ],
])('the parser of logins reads %s', (_, value, expected) => {
  expect(readLogins('orders', value)).toEqual(expected);
});
