// An account is erased: nothing of its holder is left in any schema, queue, log or e-mail file.
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import { launchShop, queryShop, runningShop, runShop, type StartedShop } from '../../cli/test/started-shop.ts';

const password = 'under the old oak';
const ada = {
  email: 'ada.quibblewick@example.com',
  name: 'Ada Quibblewick',
  password,
  phone_number: '+41 61 737373 01',
  shipping_address: { street_address: 'Zwergengasse 17', city: 'Oberfoppel', postal_code: '98-7654', country: 'CH' },
};
/** Texts of the holder that must not be left, in upper or lower case. */
const traces = ['quibblewick', '737373', 'zwergengasse', 'oberfoppel', '98-7654', 'fribblenook', 'moved to', '717273'];
const [reason, secondEmail] = ['I moved to my aunt', 'ada@fribblenook.example'];

let folder: string;
let shop: StartedShop;
let token: string;
/** The access token of the account that is erased. */
let formerToken: string;
let accountId: string;
let productId: string;
const orders: Record<'cancelled' | 'shortened' | 'delivered' | 'pending' | 'shipped', string> = {
  cancelled: '',
  shortened: '',
  delivered: '',
  pending: '',
  shipped: '',
};

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await fetch(`${shop.gateway}${path}`, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': type }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}

async function query<T extends object>(schema: string, text: string, values: unknown[] = []): Promise<T[]> {
  return queryShop<T>(await runningShop(shop.dataDir), schema, text, values);
}

const schemas = [...serviceNames, 'events'];

/** Finds the tables, logs and files that contain one of the texts. Returns each place with the text. */
async function searchEverything(): Promise<string[]> {
  const found: string[] = [];
  for (const schema of schemas) {
    const tables = await query<{ name: string }>(
      schema,
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
      [schema],
    );
    expect(tables.length).toBeGreaterThan(0);
    for (const { name } of tables) {
      const rows = await query<{ row: string }>(schema, `SELECT row::text AS row FROM ${name} AS row`);
      for (const trace of traces) {
        const hit = rows.find(({ row }) => row.toLowerCase().includes(trace));
        if (hit !== undefined) found.push(`${name}: ${trace} in ${hit.row.slice(0, 300)}`);
      }
    }
  }
  for (const kept of ['mail', 'logs']) {
    for (const file of await readdir(join(shop.dataDir, kept))) {
      const content = (await readFile(join(shop.dataDir, kept, file), 'utf8')).toLowerCase();
      for (const trace of traces) if (content.includes(trace)) found.push(`${kept}/${file}: ${trace}`);
    }
  }
  return found;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-erasure-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  shop = await launchShop({ dataDir: join(folder, 'data'), environment: { LOG_LEVEL: 'trace' } });
  productId = /"productId":"([^"]+)"/.exec(await shop.ready)?.[1] ?? '';
  token = '';
  accountId = (await call('POST', '/v1/accounts', ada, { 'Idempotency-Key': 'register-ada' })).body.id;
  await runShop(shop.dataDir, 'accounts', 'verify-email', ada.email);
  const taxId = ['set-tax-id', ada.email, 'CH', 'CHE-717273 MWST', '--reason', 'In the register'];
  expect(await runShop(shop.dataDir, 'accounts', ...taxId)).toMatchObject({ code: 0 });
  await runShop(shop.dataDir, 'staff', 'grant', ada.email, 'orders:fulfil');
  token = (await call('POST', '/v1/tokens', { email: ada.email, password })).body.access_token;
  formerToken = token;
  const place = async (quantity: number): Promise<string> => {
    const order = { items: [{ productId, quantity }], shipping_address: ada.shipping_address };
    const placed = await call('POST', '/v1/orders', order, { 'Idempotency-Key': `order-${Math.random()}` });
    expect(placed.status).toBe(201);
    return placed.body.id;
  };
  const act = async (id: string, verb: string, body?: object): Promise<void> => {
    expect(await call('POST', `/v1/orders/${id}/${verb}`, body)).toMatchObject({ status: 200 });
  };
  for (const name of Object.keys(orders) as (keyof typeof orders)[]) orders[name] = await place(2);
  await act(orders.cancelled, 'cancel', { cancellation_reason: reason });
  await act(orders.shortened, 'cancel', { cancellation_reason: reason, lines: [{ productId, quantity: 1 }] });
  const tracking = { tracking_number: 'To Oberfoppel' };
  for (const verb of ['process', 'ship', 'deliver'])
    await act(orders.delivered, verb, verb === 'ship' ? tracking : undefined);
  for (const verb of ['process', 'ship']) await act(orders.shipped, verb, verb === 'ship' ? tracking : undefined);
  // The account changes to another address, which is never verified.
  await call('PATCH', '/v1/accounts/me', { email: secondEmail, current_password: password });
  // Waits for the e-mails about the orders, and for the verification e-mail.
  await eventually(async () => {
    const mails = await readdir(join(shop.dataDir, 'mail'));
    expect(mails.length).toBeGreaterThanOrEqual(10);
  }, 30_000);
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

describe('an erasure', () => {
  it('an erasure needs the password, is reported to the account owner by e-mail, takes effect after 7 days, and can be withdrawn', async () => {
    const path = `/v1/accounts/${accountId}/erase`;
    expect(await call('POST', path, { current_password: 'a wrong password' })).toMatchObject({
      status: 403,
      body: { code: 'wrong-password' },
    });
    expect(await call('POST', path, {})).toMatchObject({ status: 400 });
    const asked = await call('POST', path, { current_password: password });
    expect(asked).toMatchObject({ status: 202, body: { id: accountId } });
    const days = (Date.parse(asked.body.erase_at) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThan(7.01);
    await eventually(async () => {
      const mails = await readdir(join(shop.dataDir, 'mail'));
      expect(mails.filter((name) => name.includes('erasure-requested'))).toHaveLength(1);
    }, 15_000);
    const again = await call('POST', '/v1/accounts/me/erase', { current_password: password });
    expect(again.body.erase_at).toBe(asked.body.erase_at);
    expect(await call('DELETE', path)).toMatchObject({ status: 204 });
    expect((await call('GET', '/v1/accounts/me')).body.erase_at).toBeUndefined();
    expect(await call('DELETE', path)).toMatchObject({ status: 204 });
  });

  it('a late retry of a withdrawn request does not request the erasure again', async () => {
    const path = '/v1/accounts/me/erase';
    const ask = () => call('POST', path, { current_password: password }, { 'Idempotency-Key': 'erase-once' });
    const first = await ask();
    expect(first).toMatchObject({ status: 202, body: { erase_at: expect.any(String) } });
    expect(await call('DELETE', path)).toMatchObject({ status: 204 });
    expect(await ask()).toEqual(first);
    expect((await call('GET', '/v1/accounts/me')).body.erase_at).toBeUndefined();
  });

  it('an erasure is rejected for another version of the account', async () => {
    const asked = call('POST', '/v1/accounts/me/erase', { current_password: password }, { 'If-Match': '"0"' });
    expect(await asked).toMatchObject({ status: 412 });
  });

  it('an erasure can be requested again after it was withdrawn', async () => {
    expect(await call('POST', '/v1/accounts/me/erase', { current_password: password })).toMatchObject({ status: 202 });
  });

  it('an erasure that an operator requests is in the event that causes the e-mail only when there is time to withdraw it', async () => {
    const grace = { email: 'grace@example.com', name: 'Grace', phone_number: '+41 61 555 01 24', password };
    const { id } = (await call('POST', '/v1/accounts', grace)).body;
    await runShop(shop.dataDir, 'accounts', 'verify-email', grace.email);
    const events = `SELECT data -> 'eraseAt' AS "eraseAt", data ->> 'phoneNumber' AS phone FROM outbox WHERE subject = $1 AND type = 'account.updated.v1'
      ORDER BY sequence DESC LIMIT 1`;
    for (const days of [3, 0]) {
      expect(await runShop(shop.dataDir, 'accounts', 'erase', id, '--days', `${days}`)).toMatchObject({ code: 0 });
      const [event] = await query('accounts', events, [id]);
      expect(event).toEqual({ eraseAt: days === 0 ? null : expect.any(String), phone: grace.phone_number });
    }
  });

  it('an erasure changes nothing until its time, and rejects log-ins from then on', async () => {
    expect((await call('POST', '/v1/tokens', { email: ada.email, password })).status).toBe(200);
    const refresh = (await call('POST', '/v1/tokens', { email: ada.email, password })).body.refresh_token;
    expect((await searchEverything()).length).toBeGreaterThan(5);
    await query('accounts', 'UPDATE accounts SET erase_at = now() WHERE id = $1', [accountId]);
    expect((await call('POST', '/v1/tokens', { email: ada.email, password })).status).toBe(401);
    expect((await call('POST', '/v1/tokens', { refresh_token: refresh })).status).toBe(401);
    // The account is gone for its holder, or the access token has ended with the sessions.
    expect([401, 404]).toContain((await call('DELETE', '/v1/accounts/me/erase')).status);
    const left = await runShop(shop.dataDir, 'accounts', 'verify-erased', accountId);
    expect(left).toMatchObject({ code: 1, output: expect.stringMatching(/^accounts +accounts +1$/m) });
  });

  it('an erasure leaves nothing of the account owner in schemas, queues, logs and e-mails, except for an order in delivery', async () => {
    await query('accounts', "UPDATE accounts SET erase_at = now() - interval '2 hours' WHERE id = $1", [accountId]);
    await eventually(async () => {
      const [swept] = await query<{ sweeps: number }>('notifications', 'SELECT sweeps FROM erased_accounts');
      expect(swept?.sweeps).toBeGreaterThan(0);
      const rows = await query<{ status: string }>(
        'orders',
        "SELECT status FROM orders WHERE id = $1 AND status = 'cancelled'",
        [orders.pending],
      );
      expect(rows).toHaveLength(1);
    }, 60_000);
    // The jobs would be deleted after five minutes without this statement.
    await query('events', "DELETE FROM job WHERE state = 'completed'");
    const onItsWay = await query<{ id: string }>(
      'orders',
      'SELECT id FROM orders WHERE shipping_address IS NOT NULL AND tracking IS NOT NULL',
    );
    expect(onItsWay).toEqual([{ id: orders.shipped }]);

    const staff = { email: 'bo@example.com', name: 'Bo', password };
    token = '';
    await call('POST', '/v1/accounts', staff);
    await runShop(shop.dataDir, 'staff', 'grant', staff.email, 'orders:fulfil');
    token = (await call('POST', '/v1/tokens', { email: staff.email, password })).body.access_token;
    expect(await call('POST', `/v1/orders/${orders.shipped}/deliver`)).toMatchObject({ status: 200 });
    for (const schema of ['accounts', 'orders', 'notifications'])
      await query(schema, 'UPDATE erased_accounts SET next_sweep_at = now()');
    await eventually(async () => expect(await searchEverything()).toEqual([]), 60_000);
    expect(await runShop(shop.dataDir, 'accounts', 'verify-erased', accountId)).toMatchObject({
      code: 0,
      output: 'Nothing of the holder of this account is left.\n',
    });
  });

  it('an erasure keeps the orders with products, amounts and country', async () => {
    const rows = await query<{ id: string; status: string; country: string; total: number }>(
      'orders',
      `SELECT id, status, shipping_address ->> 'country' AS country, total_minor::int AS total FROM orders
       WHERE account_id = $1 ORDER BY id`,
      [accountId],
    );
    expect(rows.map(({ status }) => status).sort()).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
      'delivered',
      'delivered',
    ]);
    for (const { country, total } of rows) {
      expect(country).toBe('CH');
      expect(total).toBeGreaterThan(0);
    }
    expect(await runShop(shop.dataDir, 'stock', 'verify')).toMatchObject({ code: 0 });
  });

  it('an erasure is the last change of the account, and only staff for accounts sees changes of the account', async () => {
    const logIn = async (email: string, ...scopes: string[]): Promise<string> => {
      token = '';
      await call('POST', '/v1/accounts', { email, name: 'Bo', password });
      if (scopes.length > 0) await runShop(shop.dataDir, 'staff', 'grant', email, ...scopes);
      return (await call('POST', '/v1/tokens', { email, password })).body.access_token;
    };
    const changesSeenWith = async (given: string): Promise<{ type: string; resource: string }[]> => {
      token = given;
      const found: { type: string; resource: string }[] = [];
      for (let query = 'limit=100'; ; ) {
        const { status, body } = await call('GET', `/v1/changes?${query}`);
        expect(status).toBe(200);
        found.push(...body.items);
        if (!body.hasMore) return found.filter(({ resource }) => mine.has(resource));
        query = `limit=100&cursor=${body.nextCursor}`;
      }
    };
    const mine = new Set([`/v1/accounts/${accountId}`, ...Object.values(orders).map((id) => `/v1/orders/${id}`)]);
    for (const given of ['', formerToken, await logIn('ida@example.com')])
      expect(await changesSeenWith(given)).toEqual([]);
    const ofOrders = await changesSeenWith(await logIn('max@example.com', 'orders:read-all'));
    expect(ofOrders.filter(({ resource }) => !resource.startsWith('/v1/orders/'))).toEqual([]);
    const ofAccounts = await changesSeenWith(await logIn('eva@example.com', 'accounts:support'));
    expect(ofAccounts.map(({ type }) => type)).toEqual(expect.arrayContaining(['account.registered.v1']));
    expect(ofAccounts.at(-1)).toMatchObject({ type: 'account.erased.v1' });
  });

  it('an erasure lets the e-mail address be registered again, as another account', async () => {
    token = '';
    const again = await call('POST', '/v1/accounts', { ...ada, name: 'Ada' });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(accountId);
  });
});
