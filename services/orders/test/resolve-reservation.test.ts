// POST /internal/reservations/settle, by status, and the claim of a reservation by an order or by its end.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;

beforeAll(async () => {
  shop = await startShop({ environment: { RESERVATION_SECONDS: '1' } });
});
afterAll(() => shop.stop());

const resolve = (reservationId: string, accountId: string) =>
  shop.internal('orders', '/internal/reservations/settle', { reservationId, accountId });

interface Reservation {
  readonly id: string;
  readonly state: string;
  readonly order_id: string | null;
}

async function reservationsOf({ accountId }: Customer): Promise<Reservation[]> {
  const { database } = shop.services.service('catalogue');
  const text = 'SELECT id, state, order_id FROM reservations WHERE account_id = $1 ORDER BY created_at, id';
  return (await database.query(text, [accountId])).rows;
}

async function ordersOf({ accountId }: Customer): Promise<number> {
  const { database } = shop.services.service('orders');
  return (await database.query('SELECT 1 FROM orders WHERE account_id = $1', [accountId])).rows.length;
}

/** Runs `during` while a table of orders is locked, so that the creation of an order waits at its use of the table. */
async function whileLocked<T>(table: string, during: () => Promise<T>): Promise<T> {
  const client = await shop.services.service('orders').database.connect();
  try {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return await during();
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

describe('200', () => {
  it('POST /internal/reservations/settle names the order that has the reservation', async () => {
    const customer = await shop.customer();
    const { body } = await shop.order(customer, { [await shop.product()]: 1 });
    const [reservation] = await reservationsOf(customer);
    expect((await resolve(reservation?.id ?? '', customer.accountId)).body).toEqual({
      state: 'exists',
      orderId: body.id,
    });
    expect((await resolve(reservation?.id ?? '', customer.accountId)).body).toEqual({
      state: 'exists',
      orderId: body.id,
    });
  });

  it('POST /internal/reservations/settle returns absent for a reservation without an order, and no order can use it later', async () => {
    const [id, accountId] = [newId(), newId()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => resolve(id, accountId)));
    expect(answers.map(({ body }) => body)).toEqual(answers.map(() => ({ state: 'absent' })));
  });
});

describe('an order that commits late', () => {
  it.each([{}, { 'Idempotency-Key': newId() }])(
    'an order that commits late takes a new reservation when its first one was resolved: %j',
    async (headers) => {
      const customer = await shop.customer();
      const product = await shop.product({ stock: 1 });
      let late: Promise<TestAnswer> | undefined;
      await whileLocked('order_lines', async () => {
        late = shop.order(customer, { [product]: 1 }, { headers });
        const [first] = await eventually(async () => {
          const found = await reservationsOf(customer);
          expect(found).toHaveLength(1);
          return found;
        });
        expect((await resolve(first?.id ?? '', customer.accountId)).body).toEqual({ state: 'absent' });
        await eventually(async () => expect(await reservationsOf(customer)).toMatchObject([{ state: 'released' }]));
      });
      expect((await late)?.status).toBe(201);
      await eventually(async () =>
        expect(await reservationsOf(customer)).toMatchObject([
          { state: 'released', order_id: null },
          { state: 'confirmed', order_id: (await late)?.body.id },
        ]),
      );
      expect(await shop.stockOf(product)).toEqual({ stock: 1, reserved: 1, oversold: 0 });
      expect(await ordersOf(customer)).toBe(1);
    },
  );

  it('an order that commits late keeps its reservation when it started before the request, which waits for it', async () => {
    const customer = await shop.customer();
    const product = await shop.product({ stock: 1 });
    let late: Promise<TestAnswer> | undefined;
    let answer: Promise<TestAnswer> | undefined;
    // The order is written and not committed here, because its outbox row is written after it.
    await whileLocked('outbox', async () => {
      late = shop.order(customer, { [product]: 1 });
      const [reservation] = await eventually(async () => {
        const found = await reservationsOf(customer);
        expect(found).toHaveLength(1);
        return found;
      });
      await eventually(async () => {
        const { rows } = await shop.services.service('orders').database.query(
          `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
             WHERE datname = current_database() AND relation = 'outbox'::regclass AND NOT granted`,
        );
        expect(rows).not.toHaveLength(0);
      });
      answer = resolve(reservation?.id ?? '', customer.accountId);
    });
    const order = await late;
    expect(order?.status).toBe(201);
    expect((await answer)?.body).toEqual({ state: 'exists', orderId: order?.body.id });
    expect(await shop.stockOf(product)).toEqual({ stock: 1, reserved: 1, oversold: 0 });
  });
});

describe('a reservation without an order', () => {
  it('a reservation without an order is released after its expiry', async () => {
    const product = await shop.product({ stock: 1 });
    const reservationId = newId();
    const lines = [{ productId: product, quantity: 1 }];
    const body = { reservationId, accountId: newId(), lines };
    expect((await shop.internal('catalogue', '/internal/reservations', body)).body.state).toBe('held');
    expect((await shop.order(await shop.customer(), { [product]: 1 })).status).toBe(409);
    await eventually(async () => expect(await shop.stockOf(product)).toMatchObject({ reserved: 0 }));
    expect((await shop.order(await shop.customer(), { [product]: 1 })).status).toBe(201);
  });

  it('a reservation stays reserved while the orders service is unavailable, and is confirmed when the order exists', async () => {
    const customer = await shop.customer();
    const product = await shop.product({ stock: 1 });
    const { database } = shop.services.service('catalogue');
    // No event reaches the inventory, so the catalogue finds the order only by asking the orders service.
    await database.query('ALTER TABLE inbox ADD CONSTRAINT deaf CHECK (attempt < 0) NOT VALID');
    try {
      const { body } = await shop.order(customer, { [product]: 1 });
      await shop.services.service('orders').kill('SIGKILL');
      await database.query('UPDATE reservations SET settle_at = now() WHERE account_id = $1', [customer.accountId]);
      await eventually(async () => {
        const { rows } = await database.query(
          'SELECT 1 FROM reservations WHERE account_id = $1 AND settle_at > now()',
          [customer.accountId],
        );
        expect(rows).toHaveLength(1);
      });
      expect(await reservationsOf(customer)).toMatchObject([{ state: 'held' }]);
      await shop.services.service('orders').restart();
      await database.query('UPDATE reservations SET settle_at = now() WHERE account_id = $1', [customer.accountId]);
      await eventually(async () =>
        expect(await reservationsOf(customer)).toMatchObject([{ state: 'confirmed', order_id: body.id }]),
      );
    } finally {
      await database.query('ALTER TABLE inbox DROP CONSTRAINT deaf');
    }
  });
});

describe('400', () => {
  it.each([{}, { reservationId: 'x', accountId: newId() }, { reservationId: newId() }])(
    'POST /internal/reservations/settle returns 400 for %j',
    async (body) => {
      expect((await shop.internal('orders', '/internal/reservations/settle', body)).status).toBe(400);
    },
  );
});

describe('401', () => {
  it('a request without a service token returns 401, also with a staff token', async () => {
    const body = { reservationId: newId(), accountId: newId() };
    const path = '/internal/reservations/settle';
    const { token } = shop.staff;
    expect((await shop.orders.post(path, { body })).status).toBe(401);
    expect((await shop.orders.post(path, { body, token })).status).toBe(401);
  });
});
