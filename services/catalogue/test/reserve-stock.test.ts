// POST /internal/reservations, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, lockWaits } from '@shop/shared/testing';
import { type Inventory, lockedMeanwhile, startInventory } from './inventory.ts';

let inventory: Inventory;

beforeAll(async () => {
  inventory = await startInventory();
});
afterAll(() => inventory.stop());

/** The facts of a product of the tests that was given none of the optional ones. */
const cupFacts = {
  name: 'Cup',
  unitPriceMinor: 1000,
  usualPriceMinor: 1000,
  brand: 'Acme',
  category: 'things',
  taxCategory: 'standard',
  shipped: true,
};

describe('200', () => {
  it('POST /internal/reservations reserves the stock and returns names and prices', async () => {
    const cup = await inventory.product(5);
    const id = newId();
    const answer = await inventory.reserve(id, { [cup]: 3 });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      state: 'held',
      lines: [{ ...cupFacts, productId: cup, quantity: 3 }],
    });
    expect(await inventory.figures(cup)).toBe('5/3/0');
    expect(await inventory.book(cup)).toBe('received 5, reserved 3');
  });

  it('a retry of a reservation gets the same response and no second unit, even when the product is sold out', async () => {
    const cup = await inventory.product(3);
    const id = newId();
    const first = await inventory.reserve(id, { [cup]: 3 });
    const { client } = inventory.services.service('catalogue');
    const token = await inventory.services.issuer.sign({ scopes: ['catalogue:write'] });
    await client.patch(`/v1/products/${cup}`, { token, body: { price: 11, name: 'Mug' } });
    expect((await inventory.reserve(id, { [cup]: 3 })).body).toEqual(first.body);
    expect(await inventory.figures(cup)).toBe('3/3/0');
  });

  it('POST /internal/reservations returns the facts of the product that orders prices it by, also to a retry', async () => {
    const voucher = await inventory.product(3);
    const { client } = inventory.services.service('catalogue');
    const token = await inventory.services.issuer.sign({ scopes: ['catalogue:write'] });
    const body = { taxCategory: 'reduced-1', weight: 0.125, shipped: false, brand: 'Smith', category: 'books' };
    expect((await client.patch(`/v1/products/${voucher}`, { token, body })).status).toBe(200);
    const id = newId();
    const facts = { taxCategory: 'reduced-1', weightGrams: 125, shipped: false, brand: 'Smith', category: 'books' };
    const lines = [{ ...cupFacts, ...facts, productId: voucher, quantity: 2 }];
    expect((await inventory.reserve(id, { [voucher]: 2 })).body).toEqual({ state: 'held', lines });
    expect((await inventory.reserve(id, { [voucher]: 2 })).body).toEqual({ state: 'held', lines });
  });

  it('POST /internal/reservations creates one reservation for any number of concurrent requests', async () => {
    const cup = await inventory.product(100);
    const id = newId();
    const answers = await Promise.all(Array.from({ length: 20 }, () => inventory.reserve(id, { [cup]: 2 })));
    expect(answers.every(({ status, body }) => status === 200 && body.state === 'held')).toBe(true);
    expect(await inventory.figures(cup)).toBe('100/2/0');
  });

  it('POST /internal/reservations reports gone for an id that was released, has other lines, or belongs to another account', async () => {
    const cup = await inventory.product(10);
    const id = newId();
    await inventory.reserve(id, { [cup]: 1 });
    expect((await inventory.reserve(id, { [cup]: 2 })).body).toEqual({ state: 'gone' });
    expect((await inventory.reserve(id, { [cup]: 1 }, newId())).body).toEqual({ state: 'gone' });
    await inventory.release(id);
    expect((await inventory.reserve(id, { [cup]: 1 })).body).toEqual({ state: 'gone' });
    expect(await inventory.figures(cup)).toBe('10/0/0');
  });

  it('POST /internal/reservations changes the version of a product exactly when it sells out or is in stock again', async () => {
    const cup = await inventory.product(2);
    const { client } = inventory.services.service('catalogue');
    const seen = async () => {
      const { headers, body } = await client.get(`/v1/products/${cup}`);
      return `${headers.etag} ${body.inStock}`;
    };
    const [one, two] = [newId(), newId()];
    await inventory.reserve(one, { [cup]: 1 });
    expect(await seen()).toBe('"1" true');
    await inventory.reserve(two, { [cup]: 1 });
    expect(await seen()).toBe('"2" false');
    await inventory.release(two);
    expect(await seen()).toBe('"3" true');
  });
});

describe('409', () => {
  it('a reservation reserves all of its lines or none', async () => {
    const [cup, lamp] = [await inventory.product(5), await inventory.product(1)];
    const answer = await inventory.reserve(newId(), { [cup]: 1, [lamp]: 2 });
    expect(answer.status).toBe(409);
    expect(answer.body.errors).toEqual([
      { pointer: '/lines/1', productId: lamp, requested: 2, available: 1, detail: '2 requested, 1 available' },
    ]);
    expect(await inventory.figures(cup)).toBe('5/0/0');
  });

  it('POST /internal/reservations leaves the id unused, so that it can be tried again', async () => {
    const cup = await inventory.product(0);
    const id = newId();
    expect((await inventory.reserve(id, { [cup]: 1 })).status).toBe(409);
    expect(await inventory.state(id)).toBeUndefined();
  });

  it('the first of many concurrent reservations gets the last unit, and the others return 409', async () => {
    const cup = await inventory.product(1);
    const answers: Awaited<ReturnType<typeof inventory.reserve>>[] = [];
    let left = 200;
    // Sixteen clients, each of which sends the next request when it gets its reply.
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (left-- > 0) answers.push(await inventory.reserve(newId(), { [cup]: 1 }));
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(199);
    expect(await inventory.figures(cup)).toBe('1/1/0');
  });

  it.each([
    [7, 200, '10/10/0', '10/1/0'],
    [8, 409, '10/8/0', '10/0/0'],
  ])(
    'a waiting reservation counts the units that others took: %i of 10 are taken, and 3 more return %i',
    async (taken, status, lamps, cups) => {
      const [cup, lamp] = [await inventory.product(10), await inventory.product(10)];
      const { database } = inventory.services.service('catalogue');
      const other = await database.connect();
      try {
        await other.query('BEGIN');
        await other.query('UPDATE products SET reserved = reserved + $2 WHERE id = $1', [lamp, taken]);
        const answer = inventory.reserve(newId(), { [cup]: 1, [lamp]: 3 });
        await eventually(async () => expect(await lockWaits(database)).toBe(1));
        await other.query('COMMIT');
        expect((await answer).status).toBe(status);
        expect(await inventory.figures(lamp)).toBe(lamps);
        expect(await inventory.figures(cup)).toBe(cups);
      } finally {
        other.release();
      }
    },
  );

  it('reservations of the same products in opposite order wait for each other instead of deadlocking', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => inventory.product(10)));
    const backwards = Object.fromEntries(
      ids
        .sort()
        .reverse()
        .map((id) => [id, 1]),
    );
    expect(await lockedMeanwhile(inventory, ids, () => inventory.reserve(newId(), backwards))).toEqual([]);
    expect(await inventory.figures(String(ids[0]))).toBe('10/1/0');
  });
});

describe('422', () => {
  it('POST /internal/reservations names products that are unknown or not for sale', async () => {
    const [soon, unknown] = [await inventory.product(5, 'pending'), newId()];
    const answer = await inventory.reserve(newId(), { [soon]: 1, [unknown]: 1 });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { pointer: '/lines/0', productId: soon, detail: 'is no product that can be ordered' },
      { pointer: '/lines/1', productId: unknown, detail: 'is no product that can be ordered' },
    ]);
  });
});

describe('401', () => {
  it("POST /internal/reservations accepts a service token, but not a customer's token", async () => {
    const { client } = inventory.services.service('catalogue');
    const token = await inventory.services.issuer.sign({ scopes: ['catalogue:write'] });
    const body = { reservationId: newId(), accountId: newId(), lines: [{ productId: newId(), quantity: 1 }] };
    expect((await client.post('/internal/reservations', { body })).status).toBe(401);
    expect((await client.post('/internal/reservations', { body, token })).status).toBe(401);
  });

  it('POST /internal/reservations accepts a service token only for the request that it signs', async () => {
    const { client } = inventory.services.service('catalogue');
    const path = '/internal/reservations';
    const body = { reservationId: newId(), accountId: newId(), lines: [{ productId: newId(), quantity: 1 }] };
    const headers = inventory.headersFor(path, body);
    const more = { ...body, lines: [{ productId: newId(), quantity: 100 }] };
    expect((await client.post(path, { body: more, headers })).status).toBe(401);
    expect((await client.post(`${path}/${newId()}/release`, { headers })).status).toBe(401);
    expect((await client.post(path, { body, headers })).status).toBe(422);
  });
});
