// Every line of the table of account columns, in every operation, and every column of accounts. export-account.test.ts
// proves that the holder gets every column, and test/system/erasure.test.ts that nothing of them is left after an
// erasure.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices } from '@shop/shared/testing';
import { accountColumns } from '../src/account/account-columns.ts';
import { announceAccounts } from '../src/operator/index.ts';
import { address, eventsOf, password, register, type TestAccounts } from './accounts.ts';

/** Member → a value of a new account, and another value. */
const samples: Readonly<Record<string, readonly [first: unknown, second: unknown]>> = {
  name: ['Kim Park', 'Kim Lee'],
  phone_number: ['+33 4 72 00', '555'],
  shipping_address: [address, { ...address, city: 'Nice' }],
  locale: ['de', 'fr'],
};
const others: Readonly<Record<string, string>> = {
  tax_id: 'is set by staff (tax-ids.test.ts)',
  id: 'is given by the shop',
  email: 'changes when the new address is verified (verify-email.test.ts)',
  email_key: 'is computed from the address',
  mailbox_key: 'is computed from the address (email-addresses.test.ts)',
  email_verified: 'is set by a verification',
  pending_email: 'is the new address until it is verified (verify-email.test.ts)',
  password_hash: 'is never shown (update-account.test.ts)',
  scopes: 'are granted by operators',
  credentials_version: 'counts changes of password and address',
  credentials_changed_at: 'is the time of the last of these changes',
  blocked_at: 'is set by staff (support.test.ts)',
  erase_at: 'is set by an erasure',
  reminded_erase_at: 'is the erasure that the last reminder named',
  version: 'changes with every other column that clients see',
  created_at: 'is the time of the registration',
  updated_at: 'is the time of the last change of the version',
};

const lines = Object.entries<{ type: unknown; required?: true; inEvents?: 'absent' | 'null'; forStaff?: unknown }>(
  accountColumns,
).flatMap(([member, line]) => {
  const [first, second] = samples[member] ?? ['one', 'another'];
  return member in others ? [] : [[member, { ...line, first, second }] as const];
});
const toCamelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

let accounts: TestAccounts;
let staff: string;

beforeAll(async () => {
  // An export asks the other services for their parts.
  const services = await startServices(['accounts', 'orders', 'notifications', 'changes']);
  const { client, database } = services.service('accounts');
  accounts = { services, client, database };
  staff = await accounts.services.issuer.sign({ scopes: ['accounts:support'] });
});
afterAll(() => accounts.services.stop());

const firstValues = Object.fromEntries(lines.map(([member, { first }]) => [member, first]));

describe('a column of accounts', () => {
  it('a column of accounts is in the table as a member of the profile, or in the list of exceptions with a reason', async () => {
    const { rows } = await accounts.database.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'accounts'`,
    );
    const known = [...lines.map(([member]) => member), ...Object.keys(others)];
    expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
  });

  it.each(lines)(
    'the member %s of accounts is written, shown, and changes the entity tag and the version',
    async (member, { first, second, required, inEvents }) => {
      const { id, path, token } = await register(accounts, firstValues);
      const before = await accounts.client.get(path, { token });
      const changed = await accounts.client.patch(path, { token, body: { [member]: second } });
      expect(changed.status).toBe(200);
      const after = await accounts.client.get(path, { token });
      expect([before.body[member], after.body[member]]).toEqual([first, second]);
      expect(after.headers.etag).not.toBe(before.headers.etag);
      const removed = await accounts.client.patch(path, { token, body: { [member]: null } });
      if (required === true) expect(removed.status).toBe(400);
      else expect([removed.status, member in removed.body]).toEqual([200, false]);
      const events = await eventsOf(accounts, id);
      const sent = events.map(({ type, sequence, data }) => [type, Number(sequence), data[toCamelCase(member)]]);
      const isSent = inEvents !== undefined;
      const expected: unknown[] = [
        ['account.registered.v1', 1, isSent ? first : undefined],
        ['account.updated.v1', 2, isSent ? second : undefined],
        ['account.updated.v1', 3, inEvents === 'null' ? null : undefined],
      ];
      expect(sent).toEqual(required === true ? expected.slice(0, 2) : expected);
    },
  );

  it.each(lines)('the member %s of accounts is in the list for staff, if the table says so', async (member, line) => {
    const { email } = await register(accounts, firstValues);
    const { body } = await accounts.client.get(`/v1/accounts?email=${encodeURIComponent(email)}`, { token: staff });
    expect(body.items[0]?.[member]).toEqual(line.forStaff === undefined ? undefined : line.first);
  });

  it.each(lines)('the member %s of accounts is rejected when it is too long, with a pointer', async (member) => {
    const { path, token } = await register(accounts);
    const body = { [member]: 'x'.repeat(2_000) };
    const created = await accounts.client.post('/v1/accounts', {
      body: { email: 'long@example.com', name: 'Kim Park', password, ...body },
    });
    for (const answer of [created, await accounts.client.patch(path, { token, body })])
      expect([answer.status, answer.body.errors[0]]).toEqual([400, expect.objectContaining({ pointer: `/${member}` })]);
  });

  it('a column of accounts is in the export of its owner', async () => {
    const { token } = await register(accounts, firstValues);
    const { status, text } = await accounts.client.get('/v1/accounts/me/export', { token });
    expect(status).toBe(200);
    expect(JSON.parse(text).account).toMatchObject(firstValues);
  });

  it('a column of accounts is in the announced events, if the table says so', async () => {
    const { id } = await register(accounts, firstValues);
    await announceAccounts({ DATABASE_URL: accounts.services.database.urls.accounts });
    const events = await eventsOf(accounts, id);
    const [announced, registered] = ['updated', 'registered'].map((name) =>
      events.find(({ type }) => type === `account.${name}.v1`),
    );
    expect(announced?.data).toEqual(registered?.data);
    for (const [member, { first, inEvents }] of lines)
      if (inEvents !== undefined) expect(announced?.data[toCamelCase(member)]).toEqual(first);
  });
});
