// How the client serializes criteria, in the body of a search and in a query string.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CollectionSpec, decimal, fromBody, fromQuery, ordered, time, uuid } from '@shop/shared/collection';
import { createShop, type Shop } from '../src/index.ts';
import { type FaultyShop, startFaultyShop } from './faulty-shop.ts';

/** The part of the orders' own collection table that the examples use. */
const spec: CollectionSpec = {
  name: 'orders',
  from: 'orders',
  fields: {
    id: { type: uuid(), operators: [], column: 'id', sortable: true },
    createdAt: { type: time(), operators: ordered, column: 'created_at' },
    totalCost: { type: decimal(2), operators: ordered, column: 'total_minor' },
  },
  defaultSort: [{ field: 'id', direction: 'desc' }],
};

let server: FaultyShop;
let shop: Shop;
beforeEach(async () => {
  server = await startFaultyShop(() => ({
    status: 200,
    body: { items: [], pagination: { limit: 100, hasMore: false } },
  }));
  shop = createShop({ baseUrl: server.url });
});
afterEach(() => server.close());

const sentQuery = () => new URL(server.seen[0]?.line.split(' ')[1] ?? '', server.url).searchParams;
const sentBody = (): unknown => JSON.parse(server.seen[0]?.body ?? '');

describe('criteria', () => {
  it('criteria become operators in a search', async () => {
    const criteria = { price: { gte: 10, lt: 20 }, brand: ['Fjord', 'Smith, Sons'], or: [{ rating: 5 }] };
    await Array.fromAsync(shop.products(criteria, { limit: 5, fields: ['id'] }));
    expect(sentBody()).toEqual({
      filters: { price: { gte: 10, lt: 20 }, brand: { in: ['Fjord', 'Smith, Sons'] }, or: [{ rating: { eq: 5 } }] },
      fields: ['id'],
      pagination: { limit: 5 },
    });
  });

  it('criteria become a query string, quoted where necessary', async () => {
    const criteria = {
      status: ['pending', 'shipped'],
      createdAt: { gte: '2026-11-21T00:00:00Z' },
      totalCost: 20,
    } as const;
    await Array.fromAsync(shop.orders(criteria, { sort: [{ field: 'totalCost', direction: 'desc' }] }));
    expect([...sentQuery()]).toEqual([
      ['status', 'in:pending,shipped'],
      ['createdAt', 'gte:"2026-11-21T00:00:00Z"'],
      ['totalCost', 'eq:20'],
      ['sort', 'totalCost:desc'],
      ['limit', '100'],
    ]);
  });

  it('criteria have the same meaning in both notations, also a list beside other operators', async () => {
    const list = { in: [5, 10], gt: 5, ne: [7, 8] };
    const moments = ['2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'];
    await Array.fromAsync(shop.orders({ totalCost: list, createdAt: moments }));
    const { conditions } = fromBody(spec, { filters: { totalCost: list, createdAt: { in: moments } } });
    const query = Object.fromEntries(['totalCost', 'createdAt'].map((name) => [name, sentQuery().getAll(name)]));
    expect(fromQuery(spec, query).conditions).toEqual(conditions);
  });

  it.each([
    ['a list of alternatives', []],
    ['an operator', { in: [] }],
    ['what is left out', { ne: [] }],
  ])(
    'criteria are rejected before they are sent when %s is empty, because they would select everything',
    (_name, price) => {
      const refusal = (field: string) => new TypeError(`${field} has an empty list: give values, or leave it out`);
      expect(() => shop.orders({ totalCost: price })).toThrow(refusal('totalCost'));
      expect(() => shop.products({ price })).toThrow(refusal('price'));
      expect(() => shop.products({ or: [{ brand: 'Fjord' }, { price }] })).toThrow(refusal('price'));
      expect(server.seen).toEqual([]);
    },
  );

  it.each([
    ['no alternatives', []],
    ['an alternative without conditions', [{ brand: 'Acme' }, {}]],
  ])('criteria are rejected with %s', (_name, or) => {
    expect(() => shop.products({ or })).toThrow(TypeError);
    expect(server.seen).toHaveLength(0);
  });

  it('criteria omit undefined values', async () => {
    const absent = undefined as unknown as number;
    await Array.fromAsync(shop.orders({ totalCost: { gte: absent, lt: 20 }, createdAt: {} }));
    expect([...sentQuery()]).toEqual([
      ['totalCost', 'lt:20'],
      ['limit', '100'],
    ]);
  });

  it('criteria omit undefined values in a search, too', async () => {
    const absent = undefined as unknown as number;
    await Array.fromAsync(shop.products({ price: { gte: absent, lt: 20 }, rating: { gt: absent } }));
    expect(sentBody()).toEqual({ filters: { price: { lt: 20 } }, pagination: { limit: 100 } });
  });
});
