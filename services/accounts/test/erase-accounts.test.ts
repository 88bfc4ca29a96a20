// The erasure of an account deletes the stored response to its registration. It reads no others.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, recordPlans } from '@shop/shared/testing';
import pg from 'pg';
import { eraseTraces } from '../src/jobs/erase-accounts.ts';
import { freshEmail, password, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;
let client: pg.Client;

beforeAll(async () => {
  accounts = await startAccounts();
  client = new pg.Client({ connectionString: accounts.services.database.urls.accounts });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await accounts?.services.stop();
});

/** Registers an account with an idempotency key. Returns the key and the account. */
async function register(body: object, status = 201): Promise<{ readonly key: string; readonly id: string }> {
  const key = newId();
  const answer = await accounts.client.post('/v1/accounts', {
    body: { name: 'Kim Park', password, ...body },
    headers: { 'Idempotency-Key': key },
  });
  expect(answer.status).toBe(status);
  return { key, id: answer.body.id };
}

async function storedKeys(): Promise<string[]> {
  const { rows } = await accounts.database.query<{ key: string }>('SELECT key FROM idempotency_keys');
  return rows.map(({ key }) => key).sort();
}

describe('the stored response to a registration', () => {
  it('the stored response to a registration is deleted, and no other response is', async () => {
    const email = freshEmail();
    const erased = await register({ email });
    const refused = await register({ email }, 409);
    const other = await register({ email: freshEmail(), name: `"id":"${erased.id}"` });
    // No operation stores such responses at present.
    const [noJson, noBody] = [newId(), newId()];
    await accounts.database.query(
      `INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers, body)
       SELECT 'anonymous', 'registerAccount', given.key, '', 204, '{}', given.body
       FROM unnest($1::text[], $2::text[]) AS given (key, body)`,
      [
        [noJson, noBody],
        [`no JSON, "id":"${erased.id}"`, null],
      ],
    );
    const kept = [refused.key, other.key, noJson, noBody].sort();
    expect(await storedKeys()).toEqual([erased.key, ...kept].sort());
    await accounts.database.query('INSERT INTO erased_accounts (account_id) VALUES ($1)', [erased.id]);
    await eventually(async () => expect(await storedKeys()).toEqual(kept), 40_000);
  });

  it('the stored response to a registration is found by an index', async () => {
    await client.query('ALTER TABLE idempotency_keys SET (autovacuum_enabled = false)');
    await client.query(
      `INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers, body)
       SELECT 'anonymous', 'registerAccount', 'key ' || n, md5('request ' || n), 201, '{}',
         format('{"id":"%s","email":"kim@example.com","name":"%s"}', md5('account ' || n)::uuid, repeat('Kim ', 40))
       FROM generate_series(1, 20000) AS n`,
    );
    await client.query('VACUUM (ANALYZE) idempotency_keys');
    const { rows } = await client.query<{ id: string }>("SELECT md5('account 5')::uuid AS id");
    const plans = await recordPlans(client, 'idempotency_keys', (tx) => eraseTraces(tx, rows[0]?.id ?? ''));
    const reads = { indexes: ['idempotency_keys_registered_account'], rows: 1 };
    expect(plans).toEqual([reads, reads]);
  });
});
