// What accounts without a verified e-mail address may hold together in one client network, how soon their orders are due,
// and a shop that takes orders from verified accounts only.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let product: string;

beforeAll(async () => {
  shop = await startShop({ environment: { HOLD_ORDERS: '10', HOLD_UNITS: '100', HOLD_NETWORK_UNITS: '60' } });
});
afterAll(() => shop?.stop());
beforeEach(async () => {
  product = await shop.product({ stock: 300 });
});

async function account(emailVerified: boolean, ...scopes: string[]): Promise<Customer> {
  const accountId = newId();
  return { accountId, token: await shop.services.issuer.sign({ accountId, scopes, emailVerified }) };
}

/** Places an order from an address, as the gateway forwards it. */
const order = (customer: Customer, address: string | undefined, quantity: number): Promise<TestAnswer> =>
  shop.order(
    customer,
    { [product]: quantity },
    address === undefined ? {} : { headers: { 'X-Forwarded-For': address } },
  );

const networks = async (): Promise<{ network: string; units: number }[]> =>
  (await shop.services.service('catalogue').database.query('SELECT network, units::int FROM network_holds')).rows;

async function cancel(customer: Customer, { body }: TestAnswer): Promise<void> {
  expect(await shop.act(customer, body.id, 'cancel')).toMatchObject({ status: 200 });
}

describe('accounts without a verified e-mail address', () => {
  it('accounts without a verified e-mail address hold at most HOLD_NETWORK_UNITS together in one network, exactly, whatever they order at the same time', async () => {
    const customers = await Promise.all(Array.from({ length: 15 }, () => account(false)));
    const placed = await Promise.all(
      customers.flatMap((customer) => [7, 7].map((quantity) => order(customer, '203.0.113.7', quantity))),
    );
    const accepted = placed.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(8);
    expect(await networks()).toEqual([{ network: expect.stringMatching(/^[\w-]{43}$/), units: 56 }]);
    const [refused] = placed.filter(({ status }) => status !== 201);
    const figures = { bound: 'units', limit: 60, held: 56, requested: 7 };
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'hold-limit', errors: [{ pointer: '/items', ...figures }] },
    });
    expect(refused?.body.detail).toContain('the accounts in this network without a verified e-mail address have 56');
    expect(refused?.body.detail).toContain('once the e-mail address is verified');

    const others = await account(false);
    expect((await order(others, '203.0.113.8', 7)).status).toBe(201);
    expect((await order(await account(true), '203.0.113.7', 50)).status).toBe(201);
    expect((await order(await account(false), '203.0.113.7', 4)).status).toBe(201);
    expect((await order(await account(false), '203.0.113.7', 1)).status).toBe(409);

    for (const [index, answer] of placed.entries()) {
      const customer = customers[Math.floor(index / 2)];
      if (answer.status === 201 && customer !== undefined) await cancel(customer, answer);
    }
    await eventually(async () => {
      expect((await networks()).map(({ units }) => units).sort()).toEqual([4, 7]);
    });
    const { rows } = await shop.services
      .service('catalogue')
      .database.query("SELECT count(*)::int FROM reservations WHERE network IS NOT NULL AND state = 'released'");
    expect(rows).toEqual([{ count: 0 }]);
  });

  it('accounts without a verified e-mail address count by the first 64 bits of an IPv6 address, and free their units when the order is processed', async () => {
    const [one, other, third] = [await account(false), await account(false), await account(false)];
    const placed = await order(one, '2001:db8:0:7::1', 20);
    expect((await order(other, '2001:db8:0:7:ffff::2', 20)).status).toBe(201);
    expect((await order(third, '2001:db8:0:7::3', 20)).status).toBe(201);
    const last = await account(false);
    expect((await order(last, '2001:db8:0:7::4', 1)).status).toBe(409);
    expect(await shop.act(shop.staff, placed.body.id, 'process')).toMatchObject({ status: 200 });
    await eventually(async () => expect((await order(last, '2001:db8:0:7::4', 1)).status).toBe(201));
  });

  it('accounts without a verified e-mail address get every limit in one error response, and orders that are rejected hold nothing', async () => {
    const customer = await account(false);
    const refused = await order(customer, '192.0.2.44', 61);
    expect(refused.body.errors).toMatchObject([
      { bound: 'units', limit: 20, held: 0, requested: 61 },
      { bound: 'units', limit: 60, held: 0, requested: 61 },
    ]);
    expect((await order(customer, '192.0.2.44', 20)).status).toBe(201);
    expect((await networks()).filter(({ units }) => units === 20)).toHaveLength(1);
  });
});

describe('an order of an account without a verified e-mail address', () => {
  it('an order of an account without a verified e-mail address has to be paid in a quarter of the time', async () => {
    await shop.services.service('orders').restart({ PAYMENTS: 'required', PAYMENT_DUE_MINUTES: '60' });
    try {
      const minutes = async (emailVerified: boolean): Promise<number> => {
        const { body } = await order(await account(emailVerified), undefined, 1);
        const { dueAt } = body.payment as { readonly dueAt: string };
        return (Date.parse(dueAt) - Date.parse(String(body.createdAt))) / 60_000;
      };
      expect([await minutes(true), await minutes(false)]).toEqual([60, 15]);
    } finally {
      await shop.services.service('orders').restart({ PAYMENTS: 'off' });
    }
  });

  it('an order of an unverified account expires after a quarter of ORDER_PENDING_HOURS, unless the address is verified by then', async () => {
    const customers = [await account(false), await account(false), await account(true)];
    const { database } = shop.services.service('orders');
    const ids: string[] = [];
    for (const [index, customer] of customers.entries()) {
      await database.query(
        "INSERT INTO customers (account_id, name, email, sequence, email_verified) VALUES ($1, 'Kim', 'k@shop.test', 1, $2)",
        [customer.accountId, index > 0],
      );
      const { body } = await order(customer, undefined, 1);
      await database.query("UPDATE orders SET created_at = now() - interval '19 hours' WHERE id = $1", [body.id]);
      ids.push(body.id);
    }
    await shop.services.service('orders').restart({ ORDER_PENDING_HOURS: '72' });
    await eventually(async () => {
      const { rows } = await database.query(
        'SELECT status FROM orders WHERE id = ANY ($1::uuid[]) ORDER BY array_position($1, id)',
        [ids],
      );
      expect(rows.map(({ status }) => status)).toEqual(['cancelled', 'pending', 'pending']);
    }, 30_000);
  });
});

describe('ORDER_EMAIL_VERIFICATION=required', () => {
  it('ORDER_EMAIL_VERIFICATION=required rejects an order with 403 email-not-verified until the address is verified, also with the same key', async () => {
    await shop.services.service('orders').restart({ ORDER_EMAIL_VERIFICATION: 'required' });
    try {
      const customer = await account(false);
      const headers = { 'Idempotency-Key': newId() };
      const refused = await shop.order(customer, { [product]: 1 }, { headers });
      expect(refused).toMatchObject({ status: 403, body: { code: 'email-not-verified' } });
      expect(await shop.stockOf(product)).toMatchObject({ reserved: 0 });
      const token = await shop.services.issuer.sign({ accountId: customer.accountId, emailVerified: true });
      expect((await shop.order({ ...customer, token }, { [product]: 1 }, { headers })).status).toBe(201);
    } finally {
      await shop.services.service('orders').restart({ ORDER_EMAIL_VERIFICATION: 'off' });
    }
  });
});
