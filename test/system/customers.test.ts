// Staff sees the contact data of an order's customer, which events of accounts keep up to date, and the recipient of
// the parcel.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { announceAccounts } from '@shop/accounts/operator';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestAnswer, type TestServices } from '@shop/shared/testing';

const ada = { name: 'Ada Lovelace', email: 'ada@example.org', password: 'under the old oak' };

let services: TestServices;
let accountId: string;
let own: string;
let reader: string;
let packer: string;
let productId: string;
/** Orders without an address, with an address that names a recipient, and with one that does not. */
let plain: string;
let named: string;
let unnamed: string;

beforeAll(async () => {
  services = await startServices(['orders', 'catalogue', 'accounts'], { shared: false });
  accountId = (await services.service('accounts').client.post('/v1/accounts', { body: ada })).body.id;
  const sign = (scopes: readonly string[], id = newId()) =>
    services.issuer.sign({ accountId: id, scopes: [...scopes] });
  own = await sign([], accountId);
  reader = await sign(['orders:read-all', 'catalogue:write']);
  packer = await sign(['orders:fulfil']);
  const body = { name: 'Cup', brand: 'Acme', category: 'Kitchen', price: 9.99, status: 'active', stock: 99 };
  productId = (await services.service('catalogue').client.post('/v1/products', { token: reader, body })).body.id;
  plain = await place();
  named = await place({ recipient: 'Charles Babbage', city: 'London' });
  unnamed = await place({ street_address: '12 St James’s Square', city: 'London' });
  await eventually(async () => expect((await view(plain, reader)).body.customer).toBeDefined());
});
afterAll(() => services.stop());

const orders = () => services.service('orders').client;

async function place(shippingAddress?: object, token = own): Promise<string> {
  const body = { items: [{ productId, quantity: 1 }], shipping_address: shippingAddress };
  const answer = await orders().post('/v1/orders', { token, body });
  expect(answer.status).toBe(201);
  expect(answer.body).not.toHaveProperty('customer');
  expect(answer.body.shipping_address).toEqual(shippingAddress);
  return answer.body.id;
}

const view = (id: string, token: string): Promise<TestAnswer> => orders().get(`/v1/orders/${id}`, { token });

/** Changes members of the account other than the e-mail address and the password, so no password is needed. */
async function change(body: object): Promise<void> {
  const { client } = services.service('accounts');
  const answer = await client.patch(`/v1/accounts/${accountId}`, { token: own, body });
  expect(answer.status).toBe(200);
}

const expectCustomer = (customer: object | undefined): Promise<void> =>
  eventually(async () => expect((await view(plain, reader)).body.customer).toEqual(customer));

describe('the customer of an order', () => {
  const first = { name: 'Ada Lovelace', email: 'ada@example.org' };

  it('the customer of an order is shown to staff that reads all orders, in the order and in both lists', async () => {
    expect((await view(plain, reader)).body.customer).toEqual(first);
    for (const account of ['all', accountId]) {
      const { body } = await orders().get(`/v1/orders?accountId=${account}`, { token: reader });
      expect(body.items.map(({ customer }) => customer)).toEqual([first, first, first]);
    }
    const fields = await orders().get('/v1/orders?accountId=all&fields=customer&limit=1', { token: reader });
    expect(fields.body.items).toEqual([{ customer: first }]);
  });

  it('the customer of an order is shown to staff that fulfils orders, in the responses to their actions', async () => {
    const id = await place();
    for (const action of ['process', 'cancel']) {
      const answer = await orders().post(`/v1/orders/${id}/${action}`, { token: packer });
      expect([answer.status, answer.body.customer]).toEqual([200, first]);
    }
    expect((await view(plain, packer)).status).toBe(404);
  });

  it('no response shows the customer of an order to the customer', async () => {
    const id = await place();
    const cancelled = await orders().post(`/v1/orders/${id}/cancel`, { token: own });
    const shown = [cancelled.body, (await view(id, own)).body, ...(await list(own)).body.items];
    expect(shown.length).toBeGreaterThan(4);
    for (const order of shown) expect(order).not.toHaveProperty('customer');
    const fields = await orders().get('/v1/orders?fields=customer', { token: own });
    expect([fields.status, fields.body.errors[0]?.parameter]).toEqual([400, 'fields']);
  });

  it('the customer of an order follows the account, and changes the entity tag of staff only', async () => {
    const before = { staff: (await view(plain, reader)).headers.etag, own: (await view(plain, own)).headers.etag };
    expect(before).toEqual({ staff: 'W/"1.1"', own: 'W/"1"' });
    await change({ phone_number: '+44 20 7946 0000' });
    await expectCustomer({ ...first, phone_number: '+44 20 7946 0000' });
    const conditional = (token: string, tag = '') =>
      orders().get(`/v1/orders/${plain}`, { token, headers: { 'If-None-Match': tag } });
    expect((await conditional(own, before.own)).status).toBe(304);
    const changed = await conditional(reader, before.staff);
    expect([changed.status, changed.headers.etag]).toEqual([200, 'W/"1.2"']);
    expect((await conditional(reader, changed.headers.etag)).status).toBe(304);
    await change({ name: 'Ada King', phone_number: null });
    await expectCustomer({ name: 'Ada King', email: first.email });
  });

  it('the customer of an order does not make a change of the order fail that names the version of the order', async () => {
    const id = await place();
    const act = (action: string, tag: string) =>
      orders().post(`/v1/orders/${id}/${action}`, { token: packer, headers: { 'If-Match': tag } });
    expect((await act('process', 'W/"2.1"')).status).toBe(412);
    const processed = await act('process', 'W/"1.1"');
    expect([processed.status, processed.headers.etag]).toEqual([200, expect.stringMatching(/^W\/"2\.\d+"$/)]);
    expect((await act('cancel', 'W/"1.2"')).status).toBe(412);
    expect((await act('cancel', '"7.1", "2"')).status).toBe(200);
  });

  it('the customer of an order is absent when the orders service has no data of the account', async () => {
    const stranger = await services.issuer.sign({ accountId: newId(), scopes: [] });
    const id = await place({ city: 'Turin' }, stranger);
    const { status, body, headers } = await view(id, reader);
    expect([status, headers.etag, body.shipping_address]).toEqual([200, 'W/"1"', { city: 'Turin' }]);
    expect(body).not.toHaveProperty('customer');
  });

  it('an announcement adds the customer of an earlier account to its orders, and changes nothing else', async () => {
    const { database } = services.service('orders');
    const known = await database.query('SELECT * FROM customers ORDER BY account_id');
    // First the row lacks the telephone number, as after an event of an older release. Then the row is missing.
    await change({ phone_number: '+44 20 7946 0001' });
    await expectCustomer({ name: 'Ada King', email: first.email, phone_number: '+44 20 7946 0001' });
    await database.query('UPDATE customers SET phone_number = NULL');
    const environment = { DATABASE_URL: services.database.urls.accounts };
    expect(await announceAccounts(environment)).toBe(1);
    await expectCustomer({ name: 'Ada King', email: first.email, phone_number: '+44 20 7946 0001' });
    await database.query('DELETE FROM customers');
    expect((await view(plain, reader)).body).not.toHaveProperty('customer');
    expect(await announceAccounts(environment)).toBe(1);
    await expectCustomer({ name: 'Ada King', email: first.email, phone_number: '+44 20 7946 0001' });
    expect(known.rows).toHaveLength(1);
  });

  it('the customer of an order stays the newest one when events arrive late, and keeps a telephone number that an event omits', async () => {
    const { database } = services.service('accounts');
    const send = (sequence: number, data: object) =>
      database.query(
        `INSERT INTO outbox (id, type, subject, sequence, request_id, data)
         VALUES ($1, 'account.updated.v1', $2, $3, 'test', $4)`,
        [newId(), accountId, sequence, JSON.stringify({ accountId, email: 'new@example.org', ...data })],
      );
    await send(20, { name: 'Twenty' });
    await expectCustomer({ name: 'Twenty', email: 'new@example.org', phone_number: '+44 20 7946 0001' });
    await send(19, { name: 'Nineteen', phoneNumber: null });
    await send(21, { name: 'Twenty-one' });
    await expectCustomer({ name: 'Twenty-one', email: 'new@example.org', phone_number: '+44 20 7946 0001' });
    await send(20, { name: 'Twenty again', phoneNumber: null });
    await eventually(async () => {
      const { rows } = await services
        .service('orders')
        .database.query("SELECT count(*)::int AS taken FROM inbox WHERE subject = $1 AND request_id = 'test'", [
          accountId,
        ]);
      expect(rows).toEqual([{ taken: 4 }]);
    });
    await expectCustomer({ name: 'Twenty-one', email: 'new@example.org', phone_number: '+44 20 7946 0001' });
  });
});

describe('the recipient of an order', () => {
  it('the recipient of an order is the one that the customer named', async () => {
    for (const token of [own, reader]) {
      expect((await view(named, token)).body.shipping_address).toEqual({
        recipient: 'Charles Babbage',
        city: 'London',
      });
    }
  });

  it('the recipient of an order is the account owner when the order names no recipient', async () => {
    const { name } = (await view(unnamed, reader)).body.customer;
    const address = { street_address: '12 St James’s Square', city: 'London' };
    expect((await view(unnamed, reader)).body.shipping_address).toEqual({ recipient: name, ...address });
    expect((await view(unnamed, own)).body.shipping_address).toEqual(address);
    expect((await view(plain, reader)).body).not.toHaveProperty('shipping_address');
  });

  it('the recipient of an order is in the event, as the customer wrote it', async () => {
    const { rows } = await services
      .service('orders')
      .database.query("SELECT data FROM outbox WHERE subject = $1 AND type = 'order.created.v1'", [named]);
    expect(rows[0]?.data.shippingAddress).toEqual({ recipient: 'Charles Babbage', city: 'London' });
  });

  it.each([[''], ['x'.repeat(201)], [7]])('the recipient of an order cannot be %j', async (recipient) => {
    const body = { items: [{ productId, quantity: 1 }], shipping_address: { recipient } };
    const answer = await orders().post('/v1/orders', { token: own, body });
    expect([answer.status, answer.body.errors[0]?.pointer]).toEqual([400, '/shipping_address/recipient']);
  });
});

describe('an erased account', () => {
  it('an erased account leaves no customer, and a late event does not restore it', async () => {
    const send = (type: string, sequence: number, data: object) =>
      services
        .service('accounts')
        .database.query(
          `INSERT INTO outbox (id, type, subject, sequence, request_id, data) VALUES ($1, $2, $3, $4, 'erasure', $5)`,
          [newId(), type, accountId, sequence, JSON.stringify({ accountId, ...data })],
        );
    const { database } = services.service('orders');
    await send('account.erased.v1', 30, { erasedAt: new Date().toISOString() });
    await eventually(async () => {
      const { rows } = await database.query('SELECT 1 FROM customers WHERE account_id = $1', [accountId]);
      expect(rows).toEqual([]);
    }, 30_000);
    await send('account.updated.v1', 31, { name: 'Ada', email: 'ada@example.org' });
    await eventually(async () => {
      const { rows } = await database.query("SELECT 1 FROM inbox WHERE request_id = 'erasure'");
      expect(rows).toHaveLength(2);
    });
    const { status, body } = await view(plain, reader);
    expect([status, body.status]).toEqual([200, 'cancelled']);
    expect(body).not.toHaveProperty('customer');
  });
});

function list(token: string): Promise<TestAnswer> {
  return orders().get('/v1/orders', { token });
}
