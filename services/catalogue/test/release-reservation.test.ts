// POST /internal/reservations/{reservationId}/release, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Inventory, lockedMeanwhile, startInventory } from './inventory.ts';

let inventory: Inventory;

beforeAll(async () => {
  inventory = await startInventory();
});
afterAll(() => inventory.stop());

describe('204', () => {
  it('POST /internal/reservations/{reservationId}/release releases the stock once for repeated and concurrent requests', async () => {
    const cup = await inventory.product(5);
    const id = newId();
    await inventory.reserve(id, { [cup]: 2 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => inventory.release(id)));
    expect(answers.every(({ status }) => status === 204)).toBe(true);
    expect(await inventory.figures(cup)).toBe('5/0/0');
    expect(await inventory.book(cup)).toBe('received 5, reserved 2, released 2');
  });

  it('a DELETE of a reservation that an order has confirmed returns 204 and does not release it', async () => {
    const cup = await inventory.product(5);
    const id = newId();
    await inventory.reserve(id, { [cup]: 2 });
    const { database } = inventory.services.service('catalogue');
    await database.query("UPDATE reservations SET state = 'confirmed', order_id = $2 WHERE id = $1", [id, newId()]);
    await inventory.release(id);
    expect(await inventory.figures(cup)).toBe('5/2/0');
  });

  it('POST /internal/reservations/{reservationId}/release locks products in the order of their ids, as reserving does', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => inventory.product(10)));
    const id = newId();
    await inventory.reserve(
      id,
      Object.fromEntries(
        ids
          .sort()
          .reverse()
          .map((product) => [product, 1]),
      ),
    );
    expect(await lockedMeanwhile(inventory, ids, () => inventory.release(id))).toEqual([]);
    expect(await inventory.figures(String(ids[0]))).toBe('10/0/0');
  });

  it('a release of an id that was never reserved returns 204', async () => {
    expect((await inventory.release(newId())).status).toBe(204);
  });
});

describe('401', () => {
  it('POST /internal/reservations/{reservationId}/release accepts a service token only', async () => {
    const { client } = inventory.services.service('catalogue');
    expect((await client.post(`/internal/reservations/${newId()}/release`)).status).toBe(401);
  });
});
