// POST /internal/prices, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer } from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';

let inventory: Inventory;

beforeAll(async () => {
  inventory = await startInventory();
});
afterAll(() => inventory.stop());

const path = '/internal/prices';

type PricedLine = Readonly<Record<string, unknown>>;

async function prices(items: Readonly<Record<string, number>>, account?: object): Promise<TestAnswer['body']> {
  const { client } = inventory.services.service('catalogue');
  const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
  const body = { lines, ...(account && { account }) };
  const answer = await client.post(path, { body, headers: inventory.headersFor(path, body) });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function price(items: Readonly<Record<string, number>>): Promise<readonly PricedLine[]> {
  return (await prices(items)).lines as readonly PricedLine[];
}

async function change(productId: string, body: object): Promise<void> {
  const { client } = inventory.services.service('catalogue');
  const token = await inventory.services.issuer.sign({ scopes: ['catalogue:write'] });
  expect((await client.patch(`/v1/products/${productId}`, { token, body })).status).toBe(200);
}

describe('200', () => {
  it('POST /internal/prices returns what a reservation returns, in the order of the lines, and reserves nothing', async () => {
    const products = [await inventory.product(5), await inventory.product(7), await inventory.product(0, 'backorder')];
    const [cup = '', book = '', chair = ''] = products;
    await change(book, { taxCategory: 'reduced', weight: 0.4, shipped: true, price: 12 });
    await change(chair, { shipped: false });
    const items = { [chair]: 500, [book]: 7, [cup]: 2 };
    const priced = await price(items);
    expect(await Promise.all(products.map((id) => inventory.figures(id)))).toEqual(['5/0/0', '7/0/0', '0/0/0']);
    const reserved = await inventory.reserve(newId(), items);
    const reservedLines = reserved.body.lines as readonly PricedLine[];
    expect(reservedLines).toHaveLength(3);
    const inOrder = [chair, book, cup].map((id) => reservedLines.find(({ productId }) => productId === id));
    expect(priced).toEqual(inOrder);
  });

  it('POST /internal/prices returns for each line the fault with which a reservation would be refused', async () => {
    const [some, many] = [await inventory.product(2), await inventory.product(500)];
    const [soon, unknown] = [await inventory.product(5, 'pending'), newId()];
    const items = { [unknown]: 1, [some]: 3, [soon]: 1, [many]: 501 };
    const lines = await price(items);
    const refused = await inventory.reserve(newId(), items);
    expect(refused.status).toBe(409);
    expect(lines.map(({ fault }) => fault)).toEqual(refused.body.errors);
    expect(lines[0]).toEqual({
      productId: unknown,
      quantity: 1,
      fault: { pointer: '/lines/0', productId: unknown, detail: 'is no product that can be ordered' },
    });
    expect(lines[2]).not.toHaveProperty('name');
    expect(lines[1]).toMatchObject({ name: 'Cup', unitPriceMinor: 1000, fault: { requested: 3, available: 2 } });
    expect(lines[3]).toMatchObject({ name: 'Cup', fault: { requested: 501, available: '99+' } });
  });

  it('POST /internal/prices counts the units that others reserved, and returns no fault for the last unit', async () => {
    const cup = await inventory.product(3);
    expect((await inventory.reserve(newId(), { [cup]: 2 })).status).toBe(200);
    expect((await price({ [cup]: 1 }))[0]).not.toHaveProperty('fault');
    expect((await price({ [cup]: 2 }))[0]).toMatchObject({ fault: { requested: 2, available: 1 } });
  });

  it('POST /internal/prices lists every limit that the reservation would exceed, for an account with limits', async () => {
    const [cup, accountId, network] = [await inventory.product(100), newId(), newId()];
    const limits = { holdLimits: { orders: 2, units: 10 }, networkHold: { network, units: 9 } };
    const fault = (pointer: string, bound: string, limit: number, held: number, requested: number) => {
      const place = pointer.startsWith('/networkHold') ? ' in the network' : '';
      const detail = `${held} are held${place}, ${requested} requested, and the limit is ${limit}`;
      return { pointer, detail, bound, limit, held, requested };
    };
    expect(await prices({ [cup]: 9 }, { accountId, ...limits })).toMatchObject({ holdFaults: [] });
    expect((await prices({ [cup]: 11 }, { accountId, ...limits })).holdFaults).toEqual([
      fault('/holdLimits/units', 'units', 10, 0, 11),
      fault('/networkHold/units', 'units', 9, 0, 11),
    ]);
    for (const quantity of [3, 4]) {
      const line = { productId: cup, quantity };
      const body = { reservationId: newId(), accountId, lines: [line], ...limits };
      const reservation = '/internal/reservations';
      const { client } = inventory.services.service('catalogue');
      const headers = inventory.headersFor(reservation, body);
      expect((await client.post(reservation, { body, headers })).status).toBe(200);
    }
    expect((await prices({ [cup]: 4 }, { accountId, ...limits })).holdFaults).toEqual([
      fault('/holdLimits/orders', 'orders', 2, 2, 1),
      fault('/holdLimits/units', 'units', 10, 7, 4),
      fault('/networkHold/units', 'units', 9, 7, 4),
    ]);
    expect((await prices({ [cup]: 3 }, { accountId: newId(), ...limits })).holdFaults).toEqual([
      fault('/networkHold/units', 'units', 9, 7, 3),
    ]);
    expect(await prices({ [cup]: 3 })).not.toHaveProperty('holdFaults');
  });

  it('POST /internal/prices returns 100 lines', async () => {
    const ids = await Promise.all(Array.from({ length: 100 }, () => inventory.product(1)));
    const lines = await price(Object.fromEntries(ids.map((id) => [id, 1])));
    expect(lines.map(({ productId }) => productId)).toEqual(ids);
  });
});

describe('400', () => {
  it.each([
    [{}, '/lines'],
    [{ lines: [] }, '/lines'],
    [{ lines: Array.from({ length: 101 }, () => ({ productId: newId(), quantity: 1 })) }, '/lines'],
    [{ lines: [{ productId: 'x', quantity: 1 }] }, '/lines/0/productId'],
    [{ lines: [{ productId: newId(), quantity: 0 }] }, '/lines/0/quantity'],
  ])('POST /internal/prices names the fault of %j', async (body, pointer) => {
    const { client } = inventory.services.service('catalogue');
    const answer = await client.post(path, { body, headers: inventory.headersFor(path, body) });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });
});

describe('401', () => {
  it("POST /internal/prices accepts a service token, but not a customer's token", async () => {
    const { client } = inventory.services.service('catalogue');
    const token = await inventory.services.issuer.sign({ scopes: ['catalogue:write'] });
    const body = { lines: [{ productId: newId(), quantity: 1 }] };
    expect((await client.post(path, { body })).status).toBe(401);
    expect((await client.post(path, { body, token })).status).toBe(401);
  });
});
