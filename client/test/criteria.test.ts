// How the client spells criteria, in the body of a search and in a query string.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createShop, type Shop } from '../src/index.ts';
import { type FaultyShop, startFaultyShop } from './faulty-shop.ts';

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

describe('criteria', () => {
  it('go into a search as operators', async () => {
    const criteria = { price: { gte: 10, lt: 20 }, brand: ['Fjord', 'Smith, Sons'], or: [{ rating: 5 }] };
    await Array.fromAsync(shop.products(criteria, { limit: 5, fields: ['id'] }));
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
      filters: { price: { gte: 10, lt: 20 }, brand: { in: ['Fjord', 'Smith, Sons'] }, or: [{ rating: { eq: 5 } }] },
      fields: ['id'],
      pagination: { limit: 5 },
    });
  });

  it('go into a query string in its spelling, quoted where needed', async () => {
    const criteria = {
      status: ['pending', 'shipped'],
      createdAt: { gte: '2026-11-21T00:00:00Z' },
      totalCost: 20,
    } as const;
    await Array.fromAsync(shop.orders(criteria, { sort: [{ field: 'totalCost', direction: 'desc' }] }));
    const query = new URL(server.seen[0]?.line.split(' ')[1] ?? '', server.url).searchParams;
    expect([...query]).toEqual([
      ['status', 'pending'],
      ['status', 'shipped'],
      ['createdAt', 'gte:"2026-11-21T00:00:00Z"'],
      ['totalCost', 'eq:20'],
      ['sort', 'totalCost:desc'],
      ['limit', '100'],
    ]);
  });
});
