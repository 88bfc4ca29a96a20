// HOLD_ORDERS and HOLD_UNITS limit what one account may hold in orders that are not processed yet.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { verifyStock } from '../../catalogue/src/operator/index.ts';
import { toHoldLimits } from '../src/order/hold-limits.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

const limits = { HOLD_ORDERS: '10', HOLD_UNITS: '100' };

let shop: TestShop;
let product: string;

beforeAll(async () => {
  shop = await startShop({ environment: limits });
});
afterAll(() => shop.stop());
beforeEach(async () => {
  product = await shop.product({ stock: 10_000 });
});

async function account(emailVerified: boolean, ...scopes: string[]): Promise<Customer> {
  const accountId = newId();
  return { accountId, token: await shop.services.issuer.sign({ accountId, scopes, emailVerified }) };
}

const order = (customer: Customer, quantity = 1): Promise<TestAnswer> => shop.order(customer, { [product]: quantity });

/** Repeats a request until it is not refused because of a busy database. */
async function answered(send: () => Promise<TestAnswer>): Promise<TestAnswer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503 && answer.body?.code !== 'request-in-progress') return answer;
  }
}

async function orders(customer: Customer, count: number, quantity = 1): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { status, body } = await order(customer, quantity);
    expect(status).toBe(201);
    ids.push(body.id);
  }
  return ids;
}

/** Returns `orders/units` as the catalogue counts them. */
async function held({ accountId }: Customer): Promise<string> {
  const { database } = shop.services.service('catalogue');
  const text = "SELECT orders || '/' || units AS held FROM account_holds WHERE account_id = $1";
  return (await database.query(text, [accountId])).rows[0]?.held ?? 'none';
}

const untilHeld = (customer: Customer, figures: string) =>
  eventually(async () => expect(await held(customer)).toBe(figures), 30_000);

describe('toHoldLimits', () => {
  it.each([
    [true, 0, { orders: 10, units: 100 }],
    [true, 1, { orders: 11, units: 110 }],
    [true, 89, { orders: 99, units: 990 }],
    [true, 90, { orders: 100, units: 1_000 }],
    [true, 1_000, { orders: 100, units: 1_000 }],
    [false, 0, { orders: 2, units: 20 }],
    [false, 5, { orders: 3, units: 30 }],
    [false, 1_000, { orders: 20, units: 200 }],
  ])(
    'toHoldLimits of a verified address (%j) after %i delivered orders are %j',
    (emailVerified, delivered, expected) => {
      expect(toHoldLimits({ orders: 10, units: 100 }, { emailVerified }, delivered)).toEqual(expected);
    },
  );

  it.each([
    [{ orders: 0, units: 0 }, undefined],
    [{ orders: 0, units: 4 }, { units: 1 }],
    [{ orders: 1, units: 0 }, { orders: 1 }],
  ])('toHoldLimits of %j are %j, at least 1, for an address that is not verified', (settings, expected) => {
    expect(toHoldLimits(settings, { emailVerified: false }, 0)).toEqual(expected);
  });
});

describe('409 hold-limit', () => {
  it('POST /v1/orders returns 409 for the eleventh order of a verified account, and explains it', async () => {
    const customer = await account(true);
    await orders(customer, 10);
    const refusal = await order(customer);
    expect(refusal.status).toBe(409);
    expect(refusal.body).toMatchObject({
      code: 'hold-limit',
      detail:
        'Of orders that are not processed yet, this account has 10, and at most 10 are permitted. ' +
        'Nothing was ordered. Order again when such an order is processed or cancelled, or order less.',
      errors: [{ pointer: '/items', bound: 'orders', limit: 10, held: 10, requested: 1 }],
    });
    expect(await held(customer)).toBe('10/10');
  });

  it('POST /v1/orders returns 409 for the third order of an unverified account, and states how the limits rise', async () => {
    const customer = await account(false);
    await orders(customer, 2, 8);
    const refusal = await order(customer, 5);
    expect(refusal.body).toMatchObject({
      code: 'hold-limit',
      detail:
        'Of orders that are not processed yet, this account has 2, and at most 2 are permitted. ' +
        'Of units in orders that are not processed yet, this account has 16 and this order 5 more, and at most 20 ' +
        'are permitted. Nothing was ordered. Order again when such an order is processed or cancelled, ' +
        'or order less. The limits are higher once the e-mail address is verified, with a new access token.',
      errors: [
        { bound: 'orders', limit: 2, held: 2, requested: 1 },
        { bound: 'units', limit: 20, held: 16, requested: 5 },
      ],
    });
    // The same account gets a token that was issued after the verification.
    const token = await shop.services.issuer.sign({ accountId: customer.accountId, emailVerified: true });
    expect((await order({ ...customer, token }, 5)).status).toBe(201);
  });

  it('POST /v1/orders returns 409 for units beyond the limit, in one order or in several', async () => {
    const customer = await account(true);
    expect((await order(customer, 101)).body).toMatchObject({ errors: [{ bound: 'units', limit: 100, held: 0 }] });
    expect(await held(customer)).toBe('none');
    expect((await order(customer, 99)).status).toBe(201);
    expect((await order(customer, 2)).status).toBe(409);
    expect((await order(customer, 1)).status).toBe(201);
  });

  it('the limits of unprocessed orders apply to staff, too', async () => {
    const staff = await account(true, 'catalogue:write', 'orders:fulfil', 'orders:read-all', 'payments:write');
    await orders(staff, 10);
    expect((await order(staff)).body.code).toBe('hold-limit');
  });

  it('POST /v1/orders returns 409 to every retry with the key, also when the account has no orders any more', async () => {
    const customer = await account(false);
    const ids = await orders(customer, 2);
    const headers = { 'Idempotency-Key': newId() };
    expect((await shop.order(customer, { [product]: 1 }, { headers })).status).toBe(409);
    for (const id of ids) await shop.act(customer, id, 'cancel');
    await untilHeld(customer, '0/0');
    const again = await shop.order(customer, { [product]: 1 }, { headers });
    expect(again).toMatchObject({ status: 409, headers: { 'idempotency-replayed': 'true' } });
    expect((await order(customer)).status).toBe(201);
  });
});

describe('the account can order again', () => {
  let customer: Customer;
  let first: string;

  beforeEach(async () => {
    customer = await account(false);
    [first = ''] = await orders(customer, 2, 10);
    expect((await order(customer)).status).toBe(409);
  });

  it('the account can order again after a cancellation by the customer or by staff', async () => {
    await shop.act(customer, first, 'cancel');
    await untilHeld(customer, '1/10');
    const [second = ''] = await orders(customer, 1, 10);
    await shop.act(shop.staff, second, 'cancel');
    await untilHeld(customer, '1/10');
  });

  it('the account can order again after staff has begun to process an order', async () => {
    await shop.act(shop.staff, first, 'process');
    await untilHeld(customer, '1/10');
    const [second = ''] = await orders(customer, 1, 10);
    // The end of the order does not change the count again.
    await shop.act(customer, first, 'cancel');
    await eventually(async () => {
      expect((await shop.view(customer, first)).body.cancellation.stockReleased.state).toBe('done');
    });
    expect(await held(customer)).toBe('2/20');
    expect((await shop.view(customer, second)).body.status).toBe('pending');
  });

  it('the account can order again after units are cancelled, by these units', async () => {
    await shop.act(customer, first, 'cancel', { body: { lines: [{ productId: product, quantity: 4 }] } });
    await untilHeld(customer, '2/16');
    expect((await order(customer)).body.errors).toMatchObject([{ bound: 'orders' }]);
  });

  it('the account can order again after an order has expired', async () => {
    const { database } = shop.services.service('orders');
    await database.query("UPDATE orders SET created_at = now() - interval '72.5 hours' WHERE id = $1", [first]);
    await untilHeld(customer, '1/10');
    expect((await shop.view(customer, first)).body.cancellation.reason).toBe('expired');
    await orders(customer, 1, 10);
  });
});

describe('what does not become an order', () => {
  it('the shop reserves no stock for a request that failed because of an unexpected price', async () => {
    const customer = await account(false);
    const items = [{ productId: product, quantity: 1 }];
    const body = { items, expectedTotal: 1 };
    expect((await shop.orders.post('/v1/orders', { token: customer.token, body })).body.code).toBe('price-changed');
    await untilHeld(customer, '0/0');
  });

  it('the shop reserves no stock after orders died between the reservation and the order', async () => {
    const customer = await account(false);
    const service = shop.services.service('orders');
    const client = await service.database.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE order_lines IN ACCESS EXCLUSIVE MODE');
    const lost = order(customer, 7).catch(() => undefined);
    await untilHeld(customer, '1/7');
    await service.kill('SIGKILL');
    await client.query('ROLLBACK');
    client.release();
    await service.restart();
    expect((await lost)?.status).not.toBe(201);
    const settle = 'UPDATE reservations SET settle_at = now() WHERE account_id = $1';
    await shop.services.service('catalogue').database.query(settle, [customer.accountId]);
    await untilHeld(customer, '0/0');
    await orders(customer, 2, 10);
  });
});

it('the orders service raises the limits by the delivered orders of the account', async () => {
  const customer = await account(true);
  const [delivered = ''] = await orders(customer, 1);
  for (const action of ['process', 'ship', 'deliver']) {
    expect((await shop.act(shop.staff, delivered, action)).status).toBe(200);
  }
  await untilHeld(customer, '0/0');
  await orders(customer, 11, 10);
  expect((await order(customer)).body.errors).toMatchObject([
    { bound: 'orders', limit: 11, held: 11 },
    { bound: 'units', limit: 110, held: 110 },
  ]);
});

it('the orders service keeps 200 clients of 40 accounts within the limits; ledger, figures and orders agree afterwards', async () => {
  const accounts = await Promise.all(Array.from({ length: 40 }, (_, index) => account(index % 2 === 0)));
  const most = (index: number) => (index % 2 === 0 ? { orders: 10, units: 100 } : { orders: 2, units: 20 });
  const placed: string[][] = accounts.map(() => []);
  const codes = new Set<string>();
  const customerOf = (index: number) => accounts[index] ?? shop.staff;
  const place = async (index: number, quantity: number): Promise<void> => {
    const headers = { 'Idempotency-Key': newId() };
    const { status, body } = await answered(() => shop.order(customerOf(index), { [product]: quantity }, { headers }));
    if (status === 201) placed[index]?.push(body.id);
    else codes.add(body.code);
  };
  // First, only whole orders are placed: exactly as many as are permitted are accepted.
  await Promise.all(Array.from({ length: 200 }, (_, client) => repeat(3, () => place(client % 40, 1))));
  expect(placed.map(({ length }) => length)).toEqual(accounts.map((_, index) => most(index).orders));
  expect([...codes]).toEqual(['hold-limit']);

  // Then, orders of several units race with all actions that lower the count.
  const unit = { body: { lines: [{ productId: product, quantity: 1 }] } };
  const acts = [
    (customer: Customer, id: string) => shop.act(customer, id, 'cancel'),
    (_: Customer, id: string) => shop.act(shop.staff, id, 'process'),
    (customer: Customer, id: string) => shop.act(customer, id, 'cancel', unit),
  ];
  const answers: TestAnswer[] = [];
  let racing = true;
  const accountIds = accounts.map(({ accountId }) => accountId);
  const sampled = sampleUntil(() => !racing, accountIds);
  await Promise.all(
    Array.from({ length: 200 }, (_, client) =>
      repeat(4, async (turn) => {
        const index = client % 40;
        const id = placed[index]?.shift();
        const act = acts[(client + turn) % acts.length];
        if (id !== undefined && act !== undefined) answers.push(await answered(() => act(customerOf(index), id)));
        await place(index, 1 + ((client + turn) % 6));
      }),
    ),
  );
  racing = false;
  for (const { orders: count, units, index } of await sampled) {
    expect(count).toBeLessThanOrEqual(most(index).orders);
    expect(units).toBeLessThanOrEqual(most(index).units);
  }
  expect([...codes]).toEqual(['hold-limit']);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));

  const pending = await pendingOf(accountIds);
  await Promise.all(
    accounts.map((customer, index) => untilHeld(customer, `${pending[index]?.orders}/${pending[index]?.units}`)),
  );
  const { faults } = await verifyStock({ DATABASE_URL: shop.services.database.urls.catalogue });
  expect(faults).toEqual([]);
  const { rows } = await shop.services.service('orders').database.query(
    `SELECT sum(quantity - cancelled_quantity)::int AS units FROM orders
     JOIN order_lines ON order_id = id AND order_lines.account_id = orders.account_id
     WHERE product_id = $1 AND status <> 'cancelled'`,
    [product],
  );
  expect(await shop.stockOf(product)).toMatchObject({ reserved: rows[0].units });
});

async function repeat(times: number, work: (turn: number) => Promise<void>): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await work(turn);
}

interface Pending {
  readonly index: number;
  readonly orders: number;
  readonly units: number;
}

/** Returns the pending orders of each account, and their units. */
async function pendingOf(accountIds: readonly string[]): Promise<Pending[]> {
  const { rows } = await shop.services.service('orders').database.query(
    `SELECT account.index::int - 1 AS index, count(DISTINCT orders.id)::int AS orders,
       coalesce(sum(quantity - cancelled_quantity), 0)::int AS units
     FROM unnest($1::uuid[]) WITH ORDINALITY AS account (id, index)
     LEFT JOIN orders ON orders.account_id = account.id AND status = 'pending'
     LEFT JOIN order_lines ON order_id = orders.id AND order_lines.account_id = orders.account_id
     GROUP BY account.index ORDER BY account.index`,
    [accountIds],
  );
  return rows;
}

async function sampleUntil(isOver: () => boolean, accountIds: readonly string[]): Promise<Pending[]> {
  const samples: Pending[] = [];
  while (!isOver()) {
    samples.push(...(await pendingOf(accountIds)));
    await sleep(20);
  }
  return samples;
}

describe('settings', () => {
  const restart = (environment: Readonly<Record<string, string>>) =>
    shop.services.service('orders').restart(environment);
  afterAll(() => restart(limits));

  it('the HOLD_ settings count and limit nothing when both are 0', async () => {
    await restart({ HOLD_ORDERS: '0', HOLD_UNITS: '0' });
    const customer = await account(false);
    await orders(customer, 12, 50);
    expect(await held(customer)).toBe('none');
  });

  it('only units are limited when HOLD_ORDERS is 0', async () => {
    await restart({ HOLD_ORDERS: '0', HOLD_UNITS: '60' });
    const customer = await account(false);
    await orders(customer, 12);
    expect((await order(customer)).body.errors).toMatchObject([{ bound: 'units', limit: 12, held: 12 }]);
  });

  it('the HOLD_ settings do not stop orders while a previous release of the catalogue, which rejects the limits, is running', async () => {
    const { url } = shop.services.service('catalogue');
    const errors = [{ pointer: '/holdLimits', detail: 'is not a known member' }];
    const refusal = { code: 'invalid-request', detail: 'The body has a fault; see errors.', errors };
    const seen: number[] = [];
    const former = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const { authorization = '' } = request.headers;
      const headers = { authorization, 'Content-Type': 'application/json' };
      const { status, text } = body.includes('"holdLimits"')
        ? { status: 400, text: JSON.stringify(refusal) }
        : await forward(`${url}${request.url}`, headers, body);
      seen.push(status);
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(text);
    });
    await new Promise<void>((resolve) => former.listen(0, '127.0.0.1', resolve));
    try {
      await restart({ CATALOGUE_URL: `http://127.0.0.1:${(former.address() as AddressInfo).port}` });
      const customer = await account(false);
      expect((await order(customer, 30)).status).toBe(201);
      expect(seen).toEqual([400, 200]);
      expect(await held(customer)).toBe('none');
    } finally {
      await restart({});
      former.closeAllConnections();
      former.close();
    }
  });
});

async function forward(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer<ArrayBuffer>,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}
