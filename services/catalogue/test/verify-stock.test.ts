// The verification of the stock ledger: it reports the first wrong movement of each product.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import type pg from 'pg';
import { readStockReport } from '../src/operator/verify-stock.ts';
import { readReservationTrace } from '../src/stock/reservation-trace.ts';
import { type Inventory, startInventory } from './inventory.ts';
import { staffToken } from './products.ts';

let inventory: Inventory;
let cup: string;
let reservation: string;

beforeAll(async () => {
  inventory = await startInventory();
});
afterAll(() => inventory.stop());
beforeEach(async () => {
  await query('TRUNCATE products CASCADE');
  await query('TRUNCATE reservations CASCADE');
  cup = await inventory.product(5);
  reservation = newId();
  await inventory.reserve(reservation, { [cup]: 1 });
  const other = newId();
  await inventory.reserve(other, { [cup]: 2 });
  await inventory.release(other);
});

const query = (text: string, values: unknown[] = []) =>
  inventory.services.service('catalogue').database.query(text, values);
const movement = async (nth: number): Promise<number> =>
  Number(
    (await query('SELECT id FROM stock_ledger WHERE product_id = $1 ORDER BY id OFFSET $2', [cup, nth])).rows[0].id,
  );

it('the command stock verify finds no fault in a correct ledger', async () => {
  expect(await inventory.verify()).toEqual({
    products: 1,
    movements: 4,
    reservations: 2,
    faults: [],
  });
});

it('the command stock verify names the movement that was changed', async () => {
  const changed = await movement(1);
  await query('UPDATE stock_ledger SET quantity = 3 WHERE id = $1', [changed]);
  const { faults } = await inventory.verify();
  expect(faults[0]).toMatchObject({ productId: cup, name: 'Cup', movement: { id: changed, kind: 'reserved' } });
});

it('the check names the movement that follows a missing one', async () => {
  const [missing, next] = [await movement(1), await movement(2)];
  await query('DELETE FROM stock_ledger WHERE id = $1', [missing]);
  const { faults } = await inventory.verify();
  expect(faults[0]?.movement).toMatchObject({ id: next });
});

it('the command stock verify finds a product whose stock differs from the sum of its movements', async () => {
  await query('UPDATE products SET stock = stock + 1');
  expect(await inventory.verify()).toMatchObject({
    faults: [{ productId: cup, detail: '6 are on hand and 1 promised, but the movements add up to 5 and 1' }],
  });
});

it('the command stock verify finds a reservation whose movements contradict it', async () => {
  await query("UPDATE reservations SET state = 'released' WHERE id = $1", [reservation]);
  expect(await inventory.verify()).toMatchObject({
    faults: [{ reservationId: reservation, productId: cup, detail: expect.stringContaining('is released') }],
  });
});

it.each(['reservation_lines', 'reservations CASCADE'])(
  'the command stock verify finds movements whose reservation is missing in %s',
  async (tables) => {
    await query(`TRUNCATE ${tables}`);
    const { faults } = await inventory.verify();
    expect(faults).toContainEqual({
      reservationId: reservation,
      productId: cup,
      detail: 'reserved 1 for a reservation that has no line of it',
    });
  },
);

it.each(['released', 'shipped'])('the database rejects a second release of a reservation: %s', async (kind) => {
  const second = `INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, stock_after, promised_after)
    SELECT product_id, $1, quantity, reservation_id, 0, 0 FROM stock_ledger WHERE kind = 'released'`;
  await expect(query(second, [kind])).rejects.toThrow(/stock_ledger_whole_(once|end)/);
});

it('the command stock verify finds assigned units that no reservation explains', async () => {
  await query('UPDATE products SET allocated = 2');
  expect(await inventory.verify()).toMatchObject({
    faults: [
      {
        productId: cup,
        detail: '2 units are assigned to orders that are about to ship, but their reservations add up to 0',
      },
    ],
  });
});

it('the command stock verify finds a number that was written over a shipment, until the stock is counted again', async () => {
  const { client } = inventory.services.service('catalogue');
  const token = await staffToken(inventory.services);
  const write = async (stock: unknown): Promise<void> => {
    expect((await client.patch(`/v1/products/${cup}`, { token, body: { stock } })).status).toBe(200);
  };
  // No shipment precedes this figure, so it is not a fault.
  await write(7);
  expect((await inventory.verify()).faults).toEqual([]);
  await query(
    `WITH sent AS (UPDATE products SET stock = stock - 1, reserved = reserved - 1
       RETURNING id, stock, reserved + oversold AS promised),
       ended AS (UPDATE reservations SET state = 'shipped', order_id = $2 WHERE id = $1)
     INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, stock_after, promised_after)
     SELECT id, 'shipped', 1, $1, stock, promised FROM sent`,
    [reservation, newId()],
  );
  await write({ adjust: 2 });
  expect((await inventory.verify()).faults).toEqual([]);
  await write(9);
  expect((await inventory.verify()).faults).toMatchObject([
    {
      productId: cup,
      name: 'Cup',
      detail: expect.stringMatching(
        /^9 was written over 8 without an expected figure, [0-9:]+ after a shipment of 1: count the stock again$/,
      ),
      movement: { kind: 'received', quantity: 1 },
    },
  ]);
  await write({ set: 9, expected: 9 });
  expect((await inventory.verify()).faults).toEqual([]);
});

describe('with many reservations of one product', () => {
  const reservations = 300;
  const withCatalogue = <Result>(work: (client: pg.Client) => Promise<Result>) =>
    withClient({ url: inventory.services.database.urls.catalogue }, work);
  /** Returns how many movements were read, by the counters of a view. */
  const movementsRead = async (client: pg.Client, view: string): Promise<number> => {
    const text = `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM ${view} WHERE relid = 'stock_ledger'::regclass`;
    return (await client.query<{ read: number }>(text)).rows[0]?.read ?? Number.NaN;
  };

  beforeEach(async () => {
    const lamp = await inventory.product(1_000);
    await query(
      `WITH held AS (
         INSERT INTO reservations (id, account_id, settle_at)
         SELECT gen_random_uuid(), gen_random_uuid(), now() + interval '1 hour' FROM generate_series(1, $2) RETURNING id
       ), lines AS (
         INSERT INTO reservation_lines (reservation_id, product_id, quantity, name, unit_price_minor)
         SELECT id, $1, 1, 'Cup', 999 FROM held
       ), promised AS (UPDATE products SET reserved = $2 WHERE id = $1)
       INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, stock_after, promised_after)
       SELECT $1, 'reserved', 1, id, 1000, row_number() OVER () FROM held`,
      [lamp, reservations],
    );
  });

  it('the command stock verify reads each movement a few times', async () => {
    await withCatalogue(async (client) => {
      const read = async (): Promise<number> => {
        await client.query('SELECT pg_stat_force_next_flush()');
        return movementsRead(client, 'pg_stat_user_tables');
      };
      const before = await read();
      expect(await readStockReport(client)).toMatchObject({ reservations: reservations + 2, faults: [] });
      expect((await read()) - before).toBeLessThan(10 * reservations);
    });
  });

  it('the trace of a reservation reads only its own movements', async () => {
    await withCatalogue(async (client) => {
      await client.query('BEGIN');
      await client.query('SET LOCAL enable_seqscan = off'); // as with many more movements
      expect(await readReservationTrace(client, reservation)).toMatchObject([{ kind: 'reservation' }, { quantity: 1 }]);
      expect(await movementsRead(client, 'pg_stat_xact_user_tables')).toBeLessThan(10);
      await client.query('ROLLBACK');
    });
  });
});

it('the command stock verify fails when it cannot read the ledger', async () => {
  await expect(inventory.verify('postgres://catalogue:wrong@127.0.0.1:9/shop')).rejects.toThrow(/ECONNREFUSED/);
});
