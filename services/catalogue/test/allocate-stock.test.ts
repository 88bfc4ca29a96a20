// POST /internal/reservations/{reservationId}/allocate
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Inventory, lockedMeanwhile, startInventory } from './inventory.ts';
import { staffToken } from './products.ts';

let inventory: Inventory;

beforeAll(async () => {
  inventory = await startInventory();
});
afterAll(() => inventory.stop());
afterEach(async () => expect((await inventory.verify()).faults).toEqual([]));

const database = () => inventory.services.service('catalogue').database;

async function reserve(items: Readonly<Record<string, number>>): Promise<string> {
  const id = newId();
  expect((await inventory.reserve(id, items)).status).toBe(200);
  return id;
}

async function allocated(productId: string): Promise<number> {
  const { rows } = await database().query('SELECT allocated FROM products WHERE id = $1', [productId]);
  return rows[0].allocated;
}

/** Adds units to the stock, as a delivery does. */
async function arrive(productId: string, adjust: number): Promise<void> {
  const { client } = inventory.services.service('catalogue');
  const token = await staffToken(inventory.services);
  expect((await client.patch(`/v1/products/${productId}`, { token, body: { stock: { adjust } } })).status).toBe(200);
}

describe('204', () => {
  it('POST /internal/reservations/{reservationId}/allocate assigns units of every line, once', async () => {
    const [cup, lamp] = [await inventory.product(5), await inventory.product(2)];
    const id = await reserve({ [cup]: 3, [lamp]: 2 });
    for (let repeat = 0; repeat < 2; repeat += 1) expect((await inventory.allocate(id)).status).toBe(204);
    const all = await Promise.all(Array.from({ length: 5 }, () => inventory.allocate(id)));
    expect(all.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect([await allocated(cup), await allocated(lamp)]).toEqual([3, 2]);
  });

  it('POST /internal/reservations/{reservationId}/allocate does nothing for a reservation that has ended or never existed', async () => {
    const cup = await inventory.product(5);
    const id = await reserve({ [cup]: 3 });
    await inventory.release(id);
    for (const ended of [id, newId()]) expect((await inventory.allocate(ended)).status).toBe(204);
    expect(await allocated(cup)).toBe(0);
  });

  it('releasing a reservation also returns its assigned units', async () => {
    const cup = await inventory.product(5);
    const id = await reserve({ [cup]: 3 });
    await inventory.allocate(id);
    await inventory.release(id);
    expect([await allocated(cup), await inventory.figures(cup)]).toEqual([0, '5/0/0']);
  });

  it('POST /internal/reservations/{reservationId}/allocate assigns units to the first of several orders when not all of them are on hand', async () => {
    const cup = await inventory.product(3, 'backorder');
    const orders = await Promise.all([1, 2, 3].map(() => reserve({ [cup]: 2 })));
    const answers = await Promise.all(orders.map((id) => inventory.allocate(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
    await arrive(cup, 1);
    const again = await Promise.all(orders.map((id) => inventory.allocate(id)));
    expect(again.map(({ status }) => status).sort()).toEqual([204, 204, 409]);
    expect(await allocated(cup)).toBe(4);
  });

  it('POST /internal/reservations/{reservationId}/allocate locks the products in the order of their ids', async () => {
    const products = [await inventory.product(5), await inventory.product(5), await inventory.product(5)];
    const id = await reserve(Object.fromEntries(products.map((product) => [product, 1])));
    expect(await lockedMeanwhile(inventory, products, () => inventory.allocate(id))).toEqual([]);
  });
});

describe('409', () => {
  it('POST /internal/reservations/{reservationId}/allocate names each product that lacks units with both figures, and assigns nothing', async () => {
    const [cup, pan] = [await inventory.product(1, 'backorder'), await inventory.product(5)];
    const id = await reserve({ [cup]: 4, [pan]: 2 });
    const answer = await inventory.allocate(id);
    expect([answer.status, answer.body.code]).toEqual([409, 'stock-missing']);
    expect(answer.body.errors).toEqual([
      {
        parameter: 'orderId',
        detail: '4 of "Cup" are to be shipped, 1 can be',
        productId: cup,
        requested: 4,
        onHand: 1,
      },
    ]);
    expect([await allocated(cup), await allocated(pan)]).toEqual([0, 0]);
    await arrive(cup, 3);
    expect((await inventory.allocate(id)).status).toBe(204);
  });
});

describe('401', () => {
  it('POST /internal/reservations/{reservationId}/allocate returns 401 for a call that no service signed', async () => {
    const { client } = inventory.services.service('catalogue');
    expect((await client.post(`/internal/reservations/${newId()}/allocate`)).status).toBe(401);
  });
});
