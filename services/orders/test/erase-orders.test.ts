// The erasure of an account deletes the stored responses that contain its orders, and no others.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { findPersonalData } from '../src/operator/index.ts';
import { returningShop } from './returned-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let product: string;

beforeAll(async () => {
  shop = await startShop();
  product = await shop.product({ stock: 1_000 });
});
afterAll(() => shop.stop());

const database = () => shop.services.service('orders').database;
const environment = () => ({ DATABASE_URL: shop.services.database.urls.orders });

/** Places an order to the street. Returns its id. */
async function place(owner: Customer, street = 'Lindenweg 4'): Promise<string> {
  const body = {
    items: [{ productId: product, quantity: 1 }],
    shipping_address: { street_address: street, city: 'Basel', postal_code: '4052', country: 'CH' },
  };
  const answer = await shop.orders.post('/v1/orders', { token: owner.token, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** Sends a request with an idempotency key. Returns the key. */
async function act(
  who: Customer,
  order: string,
  action: string,
  status: number,
  more: { readonly prefer?: string; readonly reason?: string } = {},
): Promise<string> {
  const key = newId();
  const answer = await shop.act(who, order, action, {
    headers: { 'Idempotency-Key': key, ...(more.prefer && { Prefer: more.prefer }) },
    ...(more.reason && { body: { cancellation_reason: more.reason } }),
  });
  expect([action, answer.status]).toEqual([action, status]);
  return key;
}

async function erase({ accountId }: Customer): Promise<void> {
  await database().query('INSERT INTO erased_accounts (account_id) VALUES ($1)', [accountId]);
  await eventually(async () => expect(await findPersonalData(environment(), accountId)).toEqual({}), 40_000);
}

async function storedKeys(keys: readonly string[]): Promise<string[]> {
  const { rows } = await database().query<{ key: string }>('SELECT key FROM idempotency_keys WHERE key = ANY ($1)', [
    keys,
  ]);
  return rows.map(({ key }) => key).sort();
}

it('the erasure deletes the responses to staff and to the customer, and counts each of them once', async () => {
  const owner = await shop.customer();
  const [processed, delivered, cancelled] = [await place(owner), await place(owner), await place(owner)];
  const keys = [
    await act(shop.staff, processed, 'process', 200),
    await act(shop.staff, processed, 'cancel', 200),
    await act(shop.staff, delivered, 'process', 200),
    await act(shop.staff, delivered, 'ship', 200),
    await act(shop.staff, delivered, 'deliver', 200),
    await act(owner, cancelled, 'cancel', 200),
  ];
  expect(await findPersonalData(environment(), owner.accountId)).toMatchObject({ idempotency_keys: keys.length });
  expect(await storedKeys(keys)).toEqual([...keys].sort());
  await erase(owner);
  expect(await storedKeys(keys)).toEqual([]);
});

it('the erasure publishes an event for each order and each return that shows less afterwards', async () => {
  const owner = await shop.customer();
  const returns = returningShop(shop, owner);
  const [withReturn, cancelled] = [await returns.ordered({ [product]: 1 }), await place(owner)];
  const asked = await returns.request(owner, withReturn, { [product]: 1 }, { comment: 'I am ill.' });
  await act(owner, cancelled, 'cancel', 200, { reason: 'Kim asked for it.' });
  await erase(owner);
  const { rows } = await database().query(
    `SELECT e.subject, e.type FROM outbox AS e
     JOIN (SELECT id, version FROM orders UNION ALL SELECT id, version FROM returns) AS present
       ON present.id::text = e.subject AND present.version = e.sequence
     WHERE e.type LIKE '%.updated.v1' AND e.subject = ANY ($1)`,
    [[cancelled, asked.body.id]],
  );
  const found = new Map(rows.map(({ subject, type }) => [subject, type]));
  expect([found.get(cancelled), found.get(asked.body.id)]).toEqual(['order.updated.v1', 'return.updated.v1']);
});

it('the erasure deletes the texts of returns in every state, their events and stored responses, and keeps open returns for staff', async () => {
  const owner = await shop.customer();
  const returns = returningShop(shop, owner);
  const orderId = await returns.ordered({ [product]: 3 });
  const request = async () =>
    (await returns.request(owner, orderId, { [product]: 1 }, { comment: 'I am ill.' })).body.id;
  const [refused, open, later] = [await request(), await request(), await request()];
  const key = newId();
  const refuse = (id: string, headers = {}) =>
    shop.orders.post(`/v1/returns/${id}/refuse`, {
      token: shop.staff.token,
      headers,
      body: { reason: 'Ada wore it.' },
    });
  expect((await refuse(refused, { 'Idempotency-Key': key })).status).toBe(200);
  const { rows: events } = await database().query(
    "SELECT data ->> 'reason' AS reason FROM outbox WHERE subject = $1 AND type = 'return.refused.v1'",
    [refused],
  );
  expect(events).toEqual([{ reason: 'Ada wore it.' }]);
  await eventually(async () => {
    const { rows } = await database().query('SELECT FROM outbox WHERE published_at IS NULL');
    expect(rows).toEqual([]);
  });
  expect(await findPersonalData(environment(), owner.accountId)).toEqual({
    returns: 3,
    outbox: 1,
    idempotency_keys: 1,
  });
  await erase(owner);
  expect(await storedKeys([key])).toEqual([]);
  const { body } = await returns.view(shop.staff, open);
  expect(body).toMatchObject({ status: 'requested', allowedActions: ['approve', 'refuse', 'receive', 'withdraw'] });
  expect(body).not.toHaveProperty('comment');
  // What staff write afterwards is not stored.
  const { status, body: after } = await refuse(later);
  expect([status, after.status]).toEqual([200, 'refused']);
  expect(await findPersonalData(environment(), owner.accountId)).toEqual({});
});

it('the erasure keeps responses without an order, and responses about an account whose texts name the erased one', async () => {
  const [owner, other] = [await shop.customer(), await shop.customer()];
  const text = `"accountId":"${owner.accountId}"`;
  await database().query(
    "INSERT INTO customers (account_id, name, email, sequence) VALUES ($1, $2, 'kim@example.com', 1)",
    [other.accountId, text],
  );
  const ofOther = await place(other, text);
  const [processed, pending] = [await place(owner), await place(owner)];
  const kept = [
    await act(shop.staff, ofOther, 'process', 200),
    await act(shop.staff, ofOther, 'cancel', 200, { reason: text }),
    await act(shop.staff, pending, 'ship', 409),
    await act(shop.staff, pending, 'cancel', 204, { prefer: 'return=minimal' }),
  ];
  const deleted = [await act(shop.staff, processed, 'process', 200), await act(shop.staff, processed, 'cancel', 200)];
  const { rows } = await database().query<{ body: string }>('SELECT body FROM idempotency_keys WHERE key = $1', [
    kept[1],
  ]);
  expect(JSON.parse(rows[0]?.body ?? '')).toMatchObject({
    accountId: other.accountId,
    customer: { name: text },
    shipping_address: { recipient: text, street_address: text },
    cancellation: { reason: text },
  });
  expect(await findPersonalData(environment(), owner.accountId)).toMatchObject({ idempotency_keys: 2 });
  await erase(owner);
  expect(await storedKeys([...kept, ...deleted])).toEqual([...kept].sort());
  expect(await findPersonalData(environment(), other.accountId)).toMatchObject({ idempotency_keys: 2 });
  await erase(other);
  expect(await storedKeys(kept)).toEqual(kept.slice(2).sort());
});
