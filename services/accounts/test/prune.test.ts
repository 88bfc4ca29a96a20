// Retention: which rows are deleted, and which are kept.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectDatabase, type Database, prune } from '@shop/shared/database';
import { createLog } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { expiredAccountRows } from '../src/jobs/prune.ts';
import { longestTokenSeconds } from '../src/session/access-token-lifetime.ts';
import {
  auditOf,
  type Holder,
  logIn,
  refresh,
  refreshTokenOf,
  register,
  startAccounts,
  type TestAccounts,
} from './accounts.ts';

let accounts: TestAccounts;
let database: Database;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
  const url = accounts.services.database.urls.accounts;
  database = connectDatabase({ url, name: 'test', log: createLog('test', 'silent') });
  holder = await register(accounts);
});

afterAll(async () => {
  await database.close();
  await accounts.services.stop();
});

const pruneAll = async () => {
  for (const expiry of expiredAccountRows(30)) await prune(database.pool, expiry);
};

const count = async (table: string) =>
  (await accounts.database.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

it('the pruning job of accounts keeps an expired family while its last access token is valid, so that a new password ends the session', async () => {
  const { id, path, token, email } = await register(accounts);
  await logIn(accounts, email);
  const { rows } = await accounts.database.query(
    `UPDATE refresh_families SET expires_at = now() - interval '1 second' WHERE account_id = $1 RETURNING id`,
    [id],
  );
  await pruneAll();
  const changed = await accounts.client.patch(path, { token, body: { password: 'a short and loud brook' } });
  expect(changed.status).toBe(200);
  const ended = await accounts.database.query('SELECT session_id AS id FROM ended_sessions');
  expect(rows).toHaveLength(1);
  expect(ended.rows).toEqual(expect.arrayContaining(rows));
});

it('the pruning job of accounts deletes families whose newest access token has expired, with their tokens', async () => {
  const [expired, alive] = [await refreshTokenOf(accounts, holder), await refreshTokenOf(accounts, holder)];
  await accounts.database.query(
    `UPDATE refresh_families SET expires_at = now() - ${longestTokenSeconds + 1} * interval '1 second'
     WHERE id = (SELECT min(id::text)::uuid FROM refresh_families)`,
  );
  await pruneAll();
  expect(await count('refresh_families')).toBe(1);
  expect(await count('refresh_tokens')).toBe(1);
  expect((await refresh(accounts, expired)).status).toBe(401);
  expect((await refresh(accounts, alive)).status).toBe(200);
});

it('the pruning job of accounts deletes used tokens of a living family once they are older than the lifetime of a token', async () => {
  const before = await count('refresh_tokens WHERE used_at IS NOT NULL');
  expect(before).toBeGreaterThan(0);
  await pruneAll();
  expect(await count('refresh_tokens WHERE used_at IS NOT NULL')).toBe(before);
  await accounts.database.query("UPDATE refresh_tokens SET used_at = used_at - interval '31 days'");
  await pruneAll();
  expect(await count('refresh_tokens WHERE used_at IS NOT NULL')).toBe(0);
  expect(await count('refresh_tokens')).toBe(1);
});

it('the pruning job of accounts keeps the audit log for a year', async () => {
  const before = await auditOf(accounts, holder.id);
  await accounts.database.query("UPDATE audit_log SET created_at = now() - interval '360 days'");
  await pruneAll();
  expect(await auditOf(accounts, holder.id)).toEqual(before);
  await accounts.database.query("UPDATE audit_log SET created_at = now() - interval '367 days'");
  await pruneAll();
  expect(await auditOf(accounts, holder.id)).toEqual([]);
});

it('the pruning job of accounts prunes the tables of accounts and those of every service as soon as the service starts', async () => {
  const service = accounts.services.service('accounts');
  await service.kill();
  await accounts.database.query(`
    INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers, created_at)
    SELECT 'anonymous', 'registerAccount', 'key ' || age, 'x', 201, '{}', now() - age * interval '1 hour'
    FROM unnest(ARRAY[23, 25]) AS age;
    INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt, taken_at)
    VALUES ('c', gen_random_uuid(), 't', 's', 'r', 1, now() - interval '31 days');
    INSERT INTO audit_log (id, action, created_at) VALUES (gen_random_uuid(), 'old', now() - interval '367 days')`);
  await service.restart();
  await eventually(async () => {
    expect((await accounts.database.query('SELECT key FROM idempotency_keys')).rows).toEqual([{ key: 'key 23' }]);
    expect(await count('inbox')).toBe(0);
    expect(await count("audit_log WHERE action = 'old'")).toBe(0);
  });
});
