// stock.changed.v1 and stock.low.v1: one event for each time the stock of a product runs out, returns or becomes low.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Transaction } from '@shop/shared/database';
import { createLog, newId } from '@shop/shared/runtime';
import type { TestClient } from '@shop/shared/testing';
import { lockReservation, releaseStock } from '../src/stock/reservation.ts';
import { shrinkReservation } from '../src/stock/shrink-reservation.ts';
import { type Inventory, startInventory } from './inventory.ts';
import { eventsAbout, predecessorsOf, stockEventsAbout } from './outbox.ts';
import { addProducts, staffToken } from './products.ts';

const rounds = Number(process.env.RACE_ROUNDS ?? 20);

let inventory: Inventory;
let client: TestClient;
let token: string;

beforeAll(async () => {
  inventory = await startInventory();
  ({ client } = inventory.services.service('catalogue'));
  token = await staffToken(inventory.services);
});
afterAll(() => inventory.stop());

async function product(stock: number, lowStockThreshold?: number, status = 'active'): Promise<string> {
  const threshold = lowStockThreshold === undefined ? {} : { lowStockThreshold };
  const [id = ''] = await addProducts(inventory.services, [{ name: 'Cup', stock, status, ...threshold }]);
  return id;
}

async function reserve(productId: string, quantity: number): Promise<string> {
  const id = newId();
  expect((await inventory.reserve(id, { [productId]: quantity })).status).toBe(200);
  return id;
}

const patch = (id: string, body: object) => client.patch(`/v1/products/${id}`, { token, body });
async function inTransaction(work: (tx: Transaction) => Promise<void>): Promise<void> {
  const url = inventory.services.database.urls.catalogue;
  const database = connectDatabase({ url, name: 'test', log: createLog('test', 'silent') });
  try {
    await database.transaction(work);
  } finally {
    await database.close();
  }
}

const written = (id: string) => stockEventsAbout(inventory.services, id);

describe('stock.changed.v1', () => {
  it('the event stock.changed.v1 is written when the last unit is reserved, and when a unit is released', async () => {
    const cup = await product(3);
    const first = await reserve(cup, 2);
    const second = await reserve(cup, 1);
    await inventory.release(first);
    await inventory.release(second);
    expect(await written(cup)).toEqual(['sold out', 'in stock']);
    const [, out, back] = await eventsAbout(inventory.services, cup);
    expect([out, back]).toEqual([
      { type: 'stock.changed.v1', sequence: 2, data: { productId: cup, inStock: false } },
      { type: 'stock.changed.v1', sequence: 3, data: { productId: cup, inStock: true } },
    ]);
  });

  it('the event stock.changed.v1 is written once for a product on back order, which is promised beyond its stock', async () => {
    const cup = await product(2, undefined, 'backorder');
    const [first, second, third] = [await reserve(cup, 1), await reserve(cup, 5), await reserve(cup, 1)];
    await inventory.release(third);
    expect(await written(cup)).toEqual(['sold out']);
    await inventory.release(second);
    await inventory.release(first);
    expect(await written(cup)).toEqual(['sold out', 'in stock']);
  });

  it('the event stock.changed.v1 is written when units of an order are cancelled', async () => {
    const cup = await product(3, 1);
    const id = await reserve(cup, 3);
    await inTransaction(async (tx) => {
      await lockReservation(tx, id);
      await shrinkReservation(tx, id, null, [{ productId: cup, quantity: 2 }], { actor: 'system' });
    });
    expect(await written(cup)).toEqual(['sold out', 'low 0', 'in stock']);
  });

  it('the event stock.changed.v1 is written when staff removes or adds the units', async () => {
    const cup = await product(2);
    await patch(cup, { stock: { adjust: -1 } });
    await patch(cup, { stock: { adjust: -1 } });
    await patch(cup, { stock: { set: 4, expected: 0 } });
    await patch(cup, { stock: 0 });
    expect(await written(cup)).toEqual(['sold out', 'in stock', 'sold out']);
  });

  it('the event stock.changed.v1 is not written when orders already wait for the new units', async () => {
    const cup = await product(1, undefined, 'backorder');
    await reserve(cup, 3);
    await patch(cup, { stock: { adjust: 2 } });
    expect(await written(cup)).toEqual(['sold out']);
    await patch(cup, { stock: { adjust: 1 } });
    expect(await written(cup)).toEqual(['sold out', 'in stock']);
  });
});

describe('stock.low.v1', () => {
  it('the event stock.low.v1 is written each time the available units fall to the threshold or below', async () => {
    const cup = await product(10, 5);
    const first = await reserve(cup, 4);
    expect(await written(cup)).toEqual([]);
    await reserve(cup, 1);
    await reserve(cup, 1);
    expect(await written(cup)).toEqual(['low 5']);
    await inventory.release(first);
    await reserve(cup, 6);
    expect(await written(cup)).toEqual(['low 5', 'low 2']);
    const [, low, again] = await eventsAbout(inventory.services, cup);
    expect(low).toEqual({
      type: 'stock.low.v1',
      sequence: 2,
      data: { productId: cup, name: 'Cup', available: 5, lowStockThreshold: 5 },
    });
    expect(again?.sequence).toBe(3);
  });

  it('the event stock.low.v1 is written with stock.changed.v1 when the last units go at once', async () => {
    const cup = await product(10, 0);
    await reserve(cup, 10);
    expect(await written(cup)).toEqual(['sold out', 'low 0']);
  });

  it('the event stock.low.v1 is written when staff raises the threshold above the available units, or removes units', async () => {
    const cup = await product(10, 5);
    await patch(cup, { lowStockThreshold: 10 });
    await patch(cup, { lowStockThreshold: 12 });
    await patch(cup, { lowStockThreshold: 9 });
    await patch(cup, { stock: { adjust: -1 } });
    expect(await written(cup)).toEqual(['low 10', 'low 9']);
  });

  it('the event stock.low.v1 is never written without a threshold', async () => {
    const cup = await product(10);
    await reserve(cup, 10);
    expect(await written(cup)).toEqual(['sold out']);
  });
});

describe('a change that does not happen', () => {
  it('a change that does not happen writes no event when another line of the order cannot be reserved', async () => {
    const [cup, pan] = [await product(2, 1), await product(0)];
    expect((await inventory.reserve(newId(), { [cup]: 2, [pan]: 1 })).status).toBe(409);
    expect(await written(cup)).toEqual([]);
  });

  it('a change that does not happen writes no second event for a repeated reservation or release', async () => {
    const cup = await product(2, 1);
    const id = newId();
    await Promise.all([1, 2, 3].map(() => inventory.reserve(id, { [cup]: 2 })));
    await Promise.all([1, 2, 3].map(() => inventory.release(id)));
    expect(await written(cup)).toEqual(['sold out', 'low 0', 'in stock']);
  });

  it('a change that does not happen writes no event when its transaction is rolled back', async () => {
    const cup = await product(2, 1);
    const id = await reserve(cup, 2);
    const before = await written(cup);
    const aborted = inTransaction(async (tx) => {
      await lockReservation(tx, id);
      await releaseStock(tx, id, null, { actor: 'system' });
      throw new Error('rolled back');
    });
    await expect(aborted).rejects.toThrow('rolled back');
    expect(await written(cup)).toEqual(before);
    await inventory.release(id);
    expect(await written(cup)).toEqual([...before, 'in stock']);
  });
});

/** The events that follow from the movements in the ledger, in their order. */
async function expectedEvents(productId: string, threshold: number, first: number): Promise<string[]> {
  const { rows } = await inventory.services.service('catalogue').database.query<{ available: number }>(
    `SELECT greatest(stock_after - promised_after, 0) AS available FROM stock_ledger
     WHERE product_id = $1 ORDER BY id`,
    [productId],
  );
  let before = first;
  return rows.flatMap(({ available }) => {
    const events: string[] = [];
    if (available > 0 !== before > 0) events.push(available > 0 ? 'in stock' : 'sold out');
    if (available <= threshold && before > threshold) events.push(`low ${available}`);
    before = available;
    return events;
  });
}

describe('races', () => {
  it.each(['active', 'backorder'])(
    'races of reservations, releases and counts write each event once: %s',
    async (status) => {
      const [cup, pan] = [await product(6, 3, status), await product(6, 3, status)];
      const units = () => 1 + Math.floor(Math.random() * 3);
      const buyer = async () => {
        for (let round = 0; round < rounds; round += 1) {
          const id = newId();
          const { status } = await inventory.reserve(id, { [cup]: units(), [pan]: units() });
          expect([200, 409]).toContain(status);
          if (status === 200) await inventory.release(id);
        }
      };
      const clerk = async () => {
        for (let round = 0; round < rounds; round += 1) {
          const adjust = round % 2 === 0 ? 2 : -2;
          expect([200, 409]).toContain((await patch(cup, { stock: { adjust } })).status);
        }
      };
      await Promise.all([...Array.from({ length: 8 }, buyer), clerk()]);
      for (const id of [cup, pan]) {
        const events = await written(id);
        expect(events).toEqual(await expectedEvents(id, 3, 6));
        const flips = events.filter((event) => !event.startsWith('low'));
        expect(flips).toEqual(flips.map((_, index) => (index % 2 === 0 ? 'sold out' : 'in stock')));
        expect(events.length).toBeGreaterThan(4);
        const sequences = (await eventsAbout(inventory.services, id)).map(({ sequence }) => sequence);
        expect(new Set(sequences).size).toBe(sequences.length);
        expect(await predecessorsOf(inventory.services, id)).toEqual([null, ...sequences.slice(0, -1)]);
      }
      expect(await inventory.verify()).toMatchObject({ faults: [] });
    },
  );
});
