// Each log-in checks one hash, with or without an account, and the number of concurrent hashes is bounded.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { connectDatabase } from '@shop/shared/database';
import type { Problem } from '@shop/shared/problem';
import { createLog } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { defineAccount } from '../src/account/account.ts';
import { connectModels } from '../src/account/models.ts';
import { issueToken } from '../src/operations/issue-token.ts';
import { createKeyEncryption } from '../src/session/key-encryption.ts';
import { createPasswords, type Passwords } from '../src/session/password-hash.ts';
import { followSigningKeys } from '../src/session/signing-key.ts';
import { openSupportCollections } from '../src/support/support-collections.ts';
import { countAccounts, freshEmail, logIn, password, register, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ environment: { HASH_CONCURRENCY: '1', HASH_QUEUE: '3' } });
});

afterAll(() => accounts.services.stop());

describe('a log-in', () => {
  const counted: string[] = [];
  let database: ReturnType<typeof connectDatabase>;
  let passwords: Passwords;

  beforeAll(async () => {
    const url = accounts.services.database.urls.accounts;
    database = connectDatabase({ url, name: 'test', log: createLog('test', 'silent') });
    defineAccount(connectModels(database.pool));
    passwords = await createPasswords({
      run(_waiter, work) {
        counted.push('hashed');
        return work();
      },
    });
  });

  afterAll(() => database.close());

  it('a log-in checks exactly one hash, with and without an account, with the right password and the wrong one', async () => {
    const { email } = await register(accounts);
    const context = {
      database,
      passwords,
      idempotencySecrets: ['unused'] as const,
      signingKeys: followSigningKeys(database, createKeyEncryption([Buffer.alloc(32, 7).toString('base64url')])),
      tokenIssuer: { issuer: 'https://shop.test', audience: 'shop' },
      refreshLifetimes: { refreshTokenDays: 1, refreshFamilyDays: 1 },
      emailTokenSeal: createEmailTokenSeal(['only-for-tests-only-for-tests-only-for-tests']),
      support: openSupportCollections(createCursors([Buffer.alloc(32)])),
    };
    const outcomes = [];
    for (const body of [
      { email, password },
      { email, password: 'not the river' },
      { email: freshEmail(), password },
    ]) {
      counted.length = 0;
      const request = { id: 'request', headers: {}, faults: [], body } as unknown as Parameters<typeof issueToken>[0];
      const outcome = await issueToken(request, context).catch((error: Problem) => error);
      outcomes.push([outcome.status, counted.length]);
    }
    expect(outcomes).toEqual([
      [200, 1],
      [401, 1],
      [401, 1],
    ]);
  });
});

describe('503', () => {
  it('the accounts service returns 503 with Retry-After for requests beyond the queue, and processes the others', async () => {
    const { email } = await register(accounts);
    const answers = await Promise.all(Array.from({ length: 30 }, () => logIn(accounts, email)));
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 503);
    expect(served.length).toBeGreaterThanOrEqual(4);
    expect(refused.length).toBeGreaterThan(0);
    expect(served.length + refused.length).toBe(30);
    for (const { body, headers } of refused) {
      expect(body.code).toBe('service-unavailable');
      expect(headers['retry-after']).toBe('2');
    }
    expect((await logIn(accounts, email)).status).toBe(200);
  });

  it('a full queue of hashes does not affect a repeated registration, which needs no hash', async () => {
    const body = { email: freshEmail(), name: 'Kim Park', password };
    const send = () => accounts.client.post('/v1/accounts', { body, headers: { 'Idempotency-Key': 'once hashed' } });
    expect((await send()).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 30 }, send));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });

  it('the accounts service returns the same 503 for known and unknown e-mail addresses', async () => {
    const { email } = await register(accounts);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => logIn(accounts, index % 2 === 0 ? email : freshEmail())),
    );
    const texts = answers
      .filter(({ status }) => status === 503)
      .map(({ body: { instance: _, ...rest } }) => JSON.stringify(rest));
    expect(new Set(texts).size).toBe(1);
  });
});

describe('200 concurrent registrations', () => {
  it('many registrations all succeed with the default settings', async () => {
    const own = await startAccounts();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        own.client.post('/v1/accounts', { body: { email: freshEmail(), name: 'Kim Park', password } }),
      ),
    );
    await own.services.stop();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });
});

/** A registration that a client behind the gateway sends from this address. */
const registerFrom = (
  { services }: TestAccounts,
  network: string,
  more: Record<string, string> = {},
  signal?: AbortSignal,
) =>
  fetch(new URL('/v1/accounts', services.service('accounts').url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': network, ...more },
    body: JSON.stringify({ email: freshEmail(), name: 'Kim Park', password }),
    ...(signal && { signal }),
  });

describe('many registrations of one client network', () => {
  it('many registrations of one client network do not delay a log-in from another network', async () => {
    const own = await startAccounts({ environment: { HASH_CONCURRENCY: '1' } });
    const { email } = await register(own);
    let done = 0;
    const flood = Array.from({ length: 100 }, () => registerFrom(own, '192.0.2.1').then(() => (done += 1)));
    await eventually(async () => expect(done).toBeGreaterThan(0));
    const headers = { 'X-Forwarded-For': '203.0.113.7' };
    const answer = await own.client.post('/v1/tokens', { body: { email, password }, headers });
    expect(answer.status).toBe(200);
    expect(done).toBeLessThan(60);
    await Promise.all(flood);
    await own.services.stop();
  });

  it('many registrations of one client network are rejected a second before the deadline that the gateway sends, and are not hashed', async () => {
    const own = await startAccounts({ environment: { HASH_CONCURRENCY: '1' } });
    const flood = Array.from({ length: 100 }, () => registerFrom(own, '192.0.2.1', { 'Request-Timeout-Ms': '1200' }));
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
    expect((await registerFrom(own, '192.0.2.1')).status).toBe(201);
    expect(await countAccounts(own)).toBe(statuses.filter((status) => status === 201).length + 1);
    await own.services.stop();
  });

  it('many registrations of one client network are not hashed when their clients have left', async () => {
    const own = await startAccounts({ environment: { HASH_CONCURRENCY: '1' } });
    const leaving = new AbortController();
    const flood = Array.from({ length: 100 }, () =>
      registerFrom(own, '192.0.2.1', {}, leaving.signal).catch(() => 'left'),
    );
    await eventually(async () => expect(await countAccounts(own)).toBeGreaterThan(0));
    leaving.abort();
    await Promise.all(flood);
    expect((await registerFrom(own, '192.0.2.1')).status).toBe(201);
    expect(await countAccounts(own)).toBeLessThan(60);
    await own.services.stop();
  });
});
