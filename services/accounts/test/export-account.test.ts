// GET /v1/accounts/{accountId}/export, by status, with the services that deliver their parts.
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { ServiceName } from '@shop/shared/shop';
import { eventually, startServices, type TestClient } from '@shop/shared/testing';
import { addDeliveredOrders } from '../../orders/test/delivered-orders.ts';
import { staffScopes } from '../src/operator/staff-scopes.ts';
import {
  auditOf,
  emailTokenOf,
  freshEmail,
  type Holder,
  logIn,
  password,
  register,
  type TestAccounts,
  verify,
} from './accounts.ts';

interface Order {
  readonly id: string;
  readonly [member: string]: unknown;
}

interface Export {
  readonly account: Readonly<Record<string, unknown>>;
  readonly recipient?: Readonly<Record<string, unknown>>;
  readonly email_tokens: readonly object[];
  readonly sessions: readonly object[];
  readonly audit: readonly { readonly action: string }[];
  readonly orders: readonly Order[];
  readonly emails: readonly { readonly kind: string; readonly status: string }[];
  readonly webhooks: readonly object[];
}

/** A name so long that an order with it has more than 8 kB. */
const longName = 'Brass lantern '.repeat(600);
/** The memory for objects in each process, in MiB. */
const heap = 80;

let accounts: TestAccounts;
let orders: TestClient;
let catalogue: TestClient;
let staff: string;
let productId: string;

beforeAll(async () => {
  // Limits the memory of the process to less than the largest document of these tests needs.
  // The accounts have no scope for webhooks in the database, so that nothing is sent and the webhooks do not change.
  const environment = { NODE_OPTIONS: `--max-old-space-size=${heap}`, WEBHOOK_SCOPES: 'accounts' };
  const services = await startServices(['accounts', 'orders', 'catalogue', 'notifications', 'changes'], {
    environment,
  });
  const { client, database } = services.service('accounts');
  accounts = { services, client, database };
  orders = services.service('orders').client;
  catalogue = services.service('catalogue').client;
  staff = await services.issuer.sign({
    scopes: ['accounts:support', 'catalogue:write', 'orders:fulfil', 'payments:write'],
  });
  const product = {
    name: 'Brass lantern',
    brand: 'Fjord',
    category: 'Light',
    price: 9.99,
    status: 'active',
    stock: 100,
  };
  productId = (await catalogue.post('/v1/products', { token: staff, body: product })).body.id;
});
afterAll(() => accounts?.services.stop());

const loggedIn = ({ id }: Holder): Promise<string> => accounts.services.issuer.sign({ accountId: id, loggedIn: true });

const take = (token: string | undefined, path = '/v1/accounts/me') =>
  accounts.client.get(`${path}/export`, token === undefined ? {} : { token });

async function exportOf(holder: Holder): Promise<Export> {
  const { status, text } = await take(await loggedIn(holder));
  expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  return JSON.parse(text) as Export;
}

async function placeOrder(holder: Holder, more: object = {}): Promise<string> {
  const body = { items: [{ productId, quantity: 2 }], ...more };
  const { status, body: order } = await orders.post('/v1/orders', { token: holder.token, body });
  expect(status).toBe(201);
  return order.id;
}

async function addWebhook(accountId: string, url: string): Promise<Record<string, unknown>> {
  const token = await accounts.services.issuer.sign({ accountId, scopes: ['webhooks:write'] });
  const { client } = accounts.services.service('changes');
  const { status, body } = await client.post('/v1/webhooks', { token, body: { url, types: ['order'] } });
  expect(status).toBe(201);
  return { ...body };
}

/** Adds delivered orders of the account, and returns their ids, oldest first. */
const addOrders = (accountId: string, count: number, name?: string): Promise<string[]> =>
  addDeliveredOrders(accounts.services.service('orders').database, { accountId, count, name });

/** Columns whose values are not in the document, with the reasons. */
const withheld: Readonly<Record<'accounts' | 'orders' | 'notifications' | 'changes', readonly string[]>> = {
  accounts: [
    // derived from `email`
    'accounts.email_key',
    'accounts.mailbox_key',
    'email_tokens.email_key',
    // a copy of `erase_at`
    'accounts.reminded_erase_at',
    // they would let others act as the holder
    'accounts.password_hash',
    'email_tokens.digest',
    'refresh_families.successor_key',
    // data of the request and of staff, and not of the holder
    'audit_log.request_id',
    'audit_log.staff_id',
  ],
  orders: [
    // ids that the shop uses internally for the same order
    'orders.reservation_id',
    'order_history.request_id',
    'payment_ledger.request_id',
    // `by` names the actor; the id of staff is not the holder's data
    'order_history.actor_id',
    'payment_ledger.actor_id',
    'payment_ledger.id',
    'reservations.id',
    'reservations.decided_at',
  ],
  changes: [
    // a receiver trusts those who have it
    'webhooks.secret',
    // of the token that added the webhook; the account shows its own
    'webhooks.scopes',
    // how far the feed is sent, and by which process
    'webhooks.epoch',
    'webhooks.next_attempt_at',
    'webhooks.leased_until',
  ],
  notifications: [
    // derived from the addresses
    'recipients.email_key',
    'notifications.recipient_key',
    'notifications.paced_for',
    // contains the version of the order, beside the kind, which the document shows
    'notifications.kind',
    // the order or the encrypted token that the e-mail is about
    'notifications.details',
    'notifications.request_id',
    'notifications.traceparent',
    // text of the mail server
    'notifications.problem',
    'notifications.next_attempt_at',
  ],
};

/** Technical tables: copies of requests and events that are deleted after hours or days. */
const passing = new Set(['idempotency_keys', 'erased_accounts', 'changes']);

/** Every text and time that a service stores with the account, as `table.column` → values. */
async function keptBy(service: ServiceName, accountId: string): Promise<Map<string, string[]>> {
  const { database } = accounts.services.service(service);
  const { rows: tables } = await database.query<{ name: string; owner: string }>(
    `SELECT table_name AS name, column_name AS owner FROM information_schema.columns
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
       AND (column_name IN ('account_id', 'owner_id') OR table_name = 'accounts' AND column_name = 'id')`,
  );
  const kept = new Map<string, string[]>();
  for (const { name, owner } of tables.filter((table) => !passing.has(table.name))) {
    const { rows } = await database.query<{ row: Record<string, unknown> }>(
      `SELECT to_jsonb(t) AS row FROM ${name} AS t WHERE ${owner} = $1`,
      [accountId],
    );
    for (const [column, value] of rows.flatMap(({ row }) => Object.entries(row))) {
      const path = `${name}.${column}`;
      kept.set(path, [...(kept.get(path) ?? []), ...textsIn(value)]);
    }
  }
  return kept;
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The document writes all times in one form. */
const inDocument = (value: string): string =>
  /^\d{4}-\d\d-\d\dT.*[+]00:00$/.test(value) ? new Date(value).toISOString() : JSON.stringify(value).slice(1, -1);

describe('200', () => {
  let holder: Holder;
  let orderId: string;
  let webhook: Record<string, unknown>;
  let text: string;
  let whole: Export;

  beforeAll(async () => {
    holder = await register(accounts, {
      name: 'Kim "K" Päŕk',
      phone_number: '+41 61 555 01 23',
      locale: 'de-CH',
      shipping_address: {
        street_address: 'Lindenweg 4',
        city: 'Basel',
        region: 'BS',
        postal_code: '4052',
        country: 'CH',
      },
    });
    expect((await verify(accounts, holder.id)).status).toBe(204);
    const changed = { token: holder.token, body: { password: 'a short and loud brook', current_password: password } };
    expect((await accounts.client.patch('/v1/accounts/me', changed)).status).toBe(200);
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'User-Agent': 'lantern/1.0' };
    const credentials = { body: { email: holder.email, password: 'a short and loud brook' }, headers };
    expect((await accounts.client.post('/v1/tokens', credentials)).status).toBe(200);
    expect((await logIn(accounts, holder.email, 'not the password')).status).toBe(401);
    // A token of the same second as the change of the password is refused.
    await sleep(1_100);
    const pending = { token: await loggedIn(holder), body: { email: freshEmail() } };
    expect((await accounts.client.patch('/v1/accounts/me', pending)).status).toBe(200);

    const reason = { reason: 'the holder called' };
    const helped = await accounts.client.post(`${holder.path}/send-password-reset`, { token: staff, body: reason });
    expect(helped.status).toBe(202);
    const taxId = { tax_id: { country: 'CH', value: 'CHE-555.017.711 MWST' }, ...reason };
    expect((await accounts.client.post(`${holder.path}/set-tax-id`, { token: staff, body: taxId })).status).toBe(204);

    orderId = await placeOrder(holder, {
      shipping_address: { street_address: 'Seestrasse 9', city: 'Zug', country: 'CH' },
    });
    const cancelledLine = { lines: [{ productId, quantity: 1 }], cancellation_reason: 'one lantern is enough' };
    const act = (path: string, body: object, token = holder.token) =>
      orders.post(`/v1/orders/${orderId}/${path}`, { token, body });
    expect((await act('cancel', cancelledLine)).status).toBe(200);
    const money = { reference: 'payment-4711', amount: 9.99, currency: 'EUR' };
    expect((await act('payments', money, staff)).status).toBe(200);
    expect((await act('cancel', { cancellation_reason: 'found it in the attic' })).status).toBe(200);
    const shipped = await placeOrder(holder);
    expect((await orders.post(`/v1/orders/${shipped}/process`, { token: staff })).status).toBe(200);
    const parcel = { carrier: 'Post', tracking_number: '99 00 12' };
    expect((await orders.post(`/v1/orders/${shipped}/ship`, { token: staff, body: parcel })).status).toBe(200);
    webhook = await addWebhook(holder.id, 'https://lantern.example/shop');
    // A stranger's data must not be in the document.
    const stranger = await register(accounts, { name: 'Somebody Else' });
    await placeOrder(stranger);
    await addWebhook(stranger.id, 'https://stranger.example/shop');

    await eventually(async () => {
      const { emails, orders: own } = await exportOf(holder);
      expect(emails.filter(({ status }) => status === 'waiting')).toEqual([]);
      expect(emails.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['order-received', 'order-shipped', 'order-cancelled', 'email-change-undo']),
      );
      expect(own[0]).toMatchObject({ cancellation: { customerNotified: { state: 'done' } } });
    }, 20_000);
    // A session that cannot be renewed is kept for a while, and not exported.
    const { rows: expired } = await accounts.database.query(
      `INSERT INTO refresh_families (id, account_id, expires_at) VALUES (gen_random_uuid(), $1, now() - interval '1 second')
       RETURNING id`,
      [holder.id],
    );
    ({ text } = await take(await loggedIn(holder)));
    await accounts.database.query('DELETE FROM refresh_families WHERE id = $1', [expired[0]?.id]);
    whole = JSON.parse(text) as Export;
  });

  it('the export contains every string and every time that the schemas store about the account', async () => {
    const missing: string[] = [];
    for (const service of ['accounts', 'orders', 'notifications', 'changes'] as const) {
      const kept = await keptBy(service, holder.id);
      expect(kept.size).toBeGreaterThan(10);
      for (const [column, values] of kept) {
        if (withheld[service].includes(column)) continue;
        missing.push(
          ...values.filter((value) => !text.includes(inDocument(value))).map((value) => `${column}: ${value}`),
        );
      }
    }
    expect(missing).toEqual([]);
  });

  it('the export contains the account, its sessions and the tokens that were sent to it', () => {
    expect(whole.account).toMatchObject({
      id: holder.id,
      email: holder.email,
      email_verified: true,
      pending_email: expect.any(String),
      name: 'Kim "K" Päŕk',
      scopes: [],
      credentials_changed_at: expect.any(String),
    });
    expect(whole.sessions).toEqual([expect.objectContaining({ address: '203.0.113.7', user_agent: 'lantern/1.0' })]);
    expect(whole.email_tokens).toEqual([
      expect.objectContaining({ purpose: 'email-verification', email: whole.account.pending_email }),
      expect.objectContaining({ purpose: 'email-change-undo', email: holder.email }),
      expect.objectContaining({ purpose: 'password-reset', email: holder.email }),
    ]);
    expect(whole.audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        'password-changed',
        'login-succeeded',
        'login-failed',
        'email-change-requested',
        'exported',
      ]),
    );
    expect(whole.audit).toContainEqual(
      expect.objectContaining({ action: 'password-reset-sent', by: 'staff', reason: 'the holder called' }),
    );
    expect(whole.recipient).toMatchObject({ email: holder.email, emailVerified: true, locale: 'de-CH' });
  });

  it('the export contains the orders with lines, history, money and reasons', () => {
    expect(whole.orders).toHaveLength(2);
    expect(whole.orders[0]).toEqual({
      id: orderId,
      status: 'cancelled',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      accountId: holder.id,
      itemsSummary: [
        { productId, name: 'Brass lantern', quantity: 1, cancelledQuantity: 1, unitPrice: 9.99, lineTotal: 9.99 },
      ],
      totalCost: 9.99,
      currency: 'EUR',
      shipping_address: { street_address: 'Seestrasse 9', city: 'Zug', country: 'CH' },
      payment: { status: 'refund_due', paidAt: expect.any(String), refundDue: 9.99 },
      cancellation: expect.objectContaining({ reason: 'found it in the attic' }),
      history: [
        { status: 'pending', at: expect.any(String), by: 'customer' },
        expect.objectContaining({ status: 'pending', by: 'customer', reason: 'one lantern is enough' }),
        { status: 'cancelled', at: expect.any(String), by: 'customer', reason: 'found it in the attic' },
      ],
      moneyMovements: [
        expect.objectContaining({ kind: 'received', reference: 'payment-4711', amount: 9.99 }),
        expect.objectContaining({ kind: 'refund-due', amount: 9.99, cause: 'cancelled' }),
      ],
    });
    expect(whole.orders[1]).toMatchObject({ tracking: { carrier: 'Post' }, history: [{}, {}, { by: 'staff' }] });
  });

  it('the export contains the webhooks of the account without their secrets', () => {
    const { secret, ...shown } = webhook;
    expect(secret).toMatch(/^whsec_/);
    expect(whole.webhooks).toEqual([shown]);
  });

  it('the export contains no password, no token and no data of other accounts', async () => {
    const { rows } = await accounts.database.query<{ hash: string }>(
      'SELECT password_hash AS hash FROM accounts WHERE id = $1',
      [holder.id],
    );
    expect(text).not.toContain(String(rows[0]?.hash));
    expect(text).not.toContain(await emailTokenOf(accounts, holder.id, 'email-verification'));
    expect(text).not.toMatch(/argon2|sealedToken|digest|successor|whsec_|Somebody Else|stranger/);
  });

  it('the export is a file that no cache may store', async () => {
    const { headers } = await take(await loggedIn(holder), holder.path);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-disposition']).toBe(`attachment; filename="account-${holder.id}.json"`);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['content-length']).toBeUndefined();
  });

  it('HEAD returns the headers of GET /v1/accounts/{accountId}/export without a body', async () => {
    const token = await loggedIn(holder);
    const answer = await accounts.client.call('HEAD', '/v1/accounts/me/export', { token });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  it('an account without orders can be exported', async () => {
    const newcomer = await register(accounts);
    expect(await exportOf(newcomer)).toMatchObject({ account: { id: newcomer.id }, sessions: [], orders: [] });
    expect(await auditOf(accounts, newcomer.id)).toEqual([{ action: 'exported', detail: {} }]);
  });

  it('the export contains every order of a large account once, oldest first, also at the ends of pages', async () => {
    for (const count of [1, 199, 200, 201, 5_000]) {
      const large = await register(accounts);
      const ids = await addOrders(large.id, count);
      const found = (await exportOf(large)).orders;
      expect(found.map(({ id }) => id)).toEqual(ids);
    }
  });

  it('GET /v1/accounts/{accountId}/export needs less memory than the document has', async () => {
    const large = await register(accounts);
    const count = 11_000;
    await addOrders(large.id, count, longName);
    const response = await begin(await loggedIn(large));
    let [size, found, end] = [0, 0, ''];
    for await (const chunk of response.setEncoding('utf8')) {
      const text = end + String(chunk);
      found += text.split('"itemsSummary"').length - end.split('"itemsSummary"').length;
      size += String(chunk).length;
      end = text.slice(-20);
    }
    expect([found, end.endsWith(']}\n')]).toEqual([count, true]);
    expect(size).toBeGreaterThan(heap * 1024 * 1024);
  });

  it('the export contains every entry of a long audit log once', async () => {
    const busy = await register(accounts);
    await accounts.database.query(
      `INSERT INTO audit_log (id, account_id, action, created_at)
       SELECT gen_random_uuid(), $1, 'entry ' || n, now() - n / 7 * interval '1 second'
       FROM generate_series(1, 1001) AS n`,
      [busy.id],
    );
    const { audit } = await exportOf(busy);
    expect(new Set(audit.map(({ action }) => action).filter((action) => action.startsWith('entry'))).size).toBe(1_001);
    expect(audit.filter(({ action }) => action.startsWith('entry'))).toHaveLength(1_001);
  });
});

describe('401', () => {
  it('GET /v1/accounts/{accountId}/export returns 401 without a token', async () => {
    expect((await take(undefined)).status).toBe(401);
  });
});

describe('403', () => {
  it('GET /v1/accounts/{accountId}/export returns 403 for another account, with every scope, too', async () => {
    const [holder, other] = [await register(accounts), await register(accounts)];
    for (const claims of [{}, { scopes: staffScopes }]) {
      const token = await accounts.services.issuer.sign({ accountId: holder.id, loggedIn: true, ...claims });
      for (const path of [other.path, `/v1/accounts/${newId()}`]) {
        const { status, body } = await take(token, path);
        expect([status, body.code]).toEqual([403, 'forbidden']);
      }
    }
    expect(await auditOf(accounts, other.id)).toEqual([]);
  });

  it('GET /v1/accounts/{accountId}/export requires a new log-in after a renewal, and after a change of the password', async () => {
    const holder = await register(accounts);
    const renewed = await accounts.services.issuer.sign({ accountId: holder.id });
    const before = await loggedIn(holder);
    const body = { password: 'a short and loud brook', current_password: password };
    expect((await accounts.client.patch('/v1/accounts/me', { token: before, body })).status).toBe(200);
    for (const token of [renewed, before]) {
      const { status, body: problem } = await take(token);
      expect([status, problem.code]).toEqual([403, 'reauthentication-required']);
    }
    expect(await auditOf(accounts, holder.id)).toEqual([{ action: 'password-changed', detail: {} }]);
  });

  it.each([
    [290, 200],
    [310, 403],
    [-2, 403],
  ])('another issuer may issue the token some time after a recent log-in: %i s, %i', async (issuedAfter, expected) => {
    const { id } = await register(accounts);
    const { status } = await take(await accounts.services.issuer.sign({ accountId: id, loggedIn: true, issuedAfter }));
    expect(status).toBe(expected);
  });

  it('GET /v1/accounts/{accountId}/export returns 403 for a token that another issuer renewed after a change, when its log-in was before the change', async () => {
    const { id } = await register(accounts);
    const body = { password: 'a short and loud brook', current_password: password };
    const token = await accounts.services.issuer.sign({ accountId: id });
    expect((await accounts.client.patch('/v1/accounts/me', { token, body })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const renewed = await accounts.services.issuer.sign({ accountId: id, loggedIn: true, issuedAfter: 60 });
    const { status, body: problem } = await take(renewed);
    expect([status, problem.code]).toEqual([403, 'reauthentication-required']);
    expect((await take(await accounts.services.issuer.sign({ accountId: id, loggedIn: true }))).status).toBe(200);
  });
});

describe('404', () => {
  it('GET /v1/accounts/{accountId}/export returns 404 when the account does not exist', async () => {
    const token = await accounts.services.issuer.sign({ loggedIn: true });
    expect((await take(token)).status).toBe(404);
    expect((await take(token, '/v1/accounts/1')).status).toBe(404);
  });
});

describe('an unavailable service', () => {
  it.each(['orders', 'notifications', 'changes'] as const)(
    'the unavailable service %s causes 503 with Retry-After before the first byte',
    async (name) => {
      const holder = await register(accounts);
      const service = accounts.services.service(name);
      await service.kill('SIGKILL');
      const { status, headers, body } = await take(await loggedIn(holder));
      expect([status, headers['retry-after'], body.code]).toEqual([503, '1', 'service-unavailable']);
      expect(await auditOf(accounts, holder.id)).toEqual([]);
      await service.restart();
      await exportOf(holder);
    },
  );

  it('an unavailable service aborts the document, and no connection stays open', async () => {
    const holder = await register(accounts);
    await addOrders(holder.id, 3_000, longName);
    const response = await begin(await loggedIn(holder));
    // Waits until the buffers are full, so that most orders are still to be read.
    await sleep(1_000);
    await accounts.services.service('orders').kill('SIGKILL');
    let received = '';
    const read = async (): Promise<void> => {
      for await (const chunk of response) received += String(chunk);
    };
    await expect(read()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(() => JSON.parse(received)).toThrow(SyntaxError);
    await accounts.services.service('orders').restart();
    expect((await exportOf(holder)).orders).toHaveLength(3_000);
    const { output } = accounts.services.service('accounts');
    expect(output()).toContain('"msg":"service-unavailable"');
    expect(output()).not.toContain('internal-error');
  });

  it('an unavailable service does not affect an export without a client', async () => {
    const holder = await register(accounts);
    await addOrders(holder.id, 3_000, longName);
    const response = await begin(await loggedIn(holder));
    response.destroy();
    await sleep(500);
    expect((await exportOf(holder)).orders).toHaveLength(3_000);
    expect(accounts.services.service('accounts').output()).not.toContain('internal-error');
  });

  it('an unavailable service does not affect an export whose client disconnects before the response', async () => {
    const token = await loggedIn(await register(accounts));
    const client = await accounts.database.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE audit_log IN EXCLUSIVE MODE');
    const { url, output } = accounts.services.service('accounts');
    const headers = { Authorization: `Bearer ${token}`, 'X-Request-Id': 'client-that-leaves' };
    const request = httpGet(`${url}/v1/accounts/me/export`, { headers }).on('error', () => {});
    await eventually(async () => {
      const waiting = await accounts.database.query(
        `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
         WHERE datname = current_database() AND relation = 'audit_log'::regclass AND mode = 'RowExclusiveLock'
           AND NOT granted`,
      );
      expect(waiting.rowCount).toBe(1);
    });
    request.destroy();
    await sleep(100);
    await client.query('COMMIT');
    client.release();
    await eventually(async () => {
      const { rowCount } = await accounts.database.query(
        "SELECT FROM audit_log WHERE action = 'exported' AND request_id = 'client-that-leaves'",
      );
      expect(rowCount).toBe(1);
    });
    await sleep(1_000);
    expect(output()).not.toContain('internal-error');
  });
});

/** Requests the export and returns the response after its header, without reading the body. */
async function begin(token: string): Promise<IncomingMessage> {
  const { url } = accounts.services.service('accounts');
  const request = httpGet(`${url}/v1/accounts/me/export`, { headers: { Authorization: `Bearer ${token}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}
