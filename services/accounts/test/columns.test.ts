// Every column of accounts. A column that is added has to appear here: as a member of the profile, or with the reason
// for which it is none. The tests then find the places that do not know the member. export-account.test.ts proves that
// the holder gets every column, and test/system/erasure.test.ts that nothing of them is left after an erasure.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { address, eventsOf, register, startAccounts, type TestAccounts } from './accounts.ts';

/** Column → its member in requests, a value of a new account, and another value. */
const profile: Readonly<Record<string, { member: string; first: unknown; second: unknown }>> = {
  name: { member: 'name', first: 'Kim Park', second: 'Kim Lee' },
  phone_number: { member: 'phone_number', first: '+33 4 72 00', second: '555' },
  shipping_address: { member: 'shipping_address', first: address, second: { ...address, city: 'Nice' } },
  locale: { member: 'locale', first: 'de', second: 'fr' },
};

const others: Readonly<Record<string, string>> = {
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

/** Members of requests that are not columns of the profile. */
const otherMembers = ['email', 'password', 'current_password'];

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.services.stop());

const columns = Object.entries(profile);
const firstValues = Object.fromEntries(columns.map(([, { member, first }]) => [member, first]));

describe('a column of accounts', () => {
  it('is a member of the profile, or stands here with a reason', async () => {
    const { rows } = await accounts.database.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'accounts'`,
    );
    const known = [...Object.keys(profile), ...Object.keys(others)];
    expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
  });

  it.each(['NewAccount', 'AccountPatch'])('is described in the contract, in %s', async (schema) => {
    const text = await readFile(new URL('../openapi.yaml', import.meta.url), 'utf8');
    const { properties } = parse(text).components.schemas[schema] as { properties: object };
    const members = Object.keys(properties).filter((name) => !otherMembers.includes(name));
    expect(members.sort()).toEqual(columns.map(([, { member }]) => member).sort());
  });

  it.each(columns)(
    '%s is written, shown, and changes the entity tag and the version',
    async (_, { member, second }) => {
      const { id, path, token } = await register(accounts, firstValues);
      const before = await accounts.client.get(path, { token });
      const changed = await accounts.client.patch(path, { token, body: { [member]: second } });
      expect(changed.status).toBe(200);
      const after = await accounts.client.get(path, { token });
      expect([before.body[member], after.body[member]]).toEqual([firstValues[member], second]);
      expect(after.headers.etag).not.toBe(before.headers.etag);
      const events = await eventsOf(accounts, id);
      expect(events.map(({ type, sequence }) => [type, Number(sequence)])).toEqual([
        ['account.registered.v1', 1],
        ['account.updated.v1', 2],
      ]);
    },
  );
});
