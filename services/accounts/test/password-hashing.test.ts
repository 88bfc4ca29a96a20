// Each log-in checks one hash, with or without an account, and the number of concurrent hashes is bounded.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { createCursors } from '@shop/shared/collection';
import { connectDatabase } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { createLog } from '@shop/shared/runtime';
import { defineAccount } from '../src/account.ts';
import { issueToken } from '../src/issue-token.ts';
import { createKeyEncryption } from '../src/key-encryption.ts';
import { connectModels } from '../src/models.ts';
import { createPasswords, type Passwords } from '../src/password.ts';
import { Semaphore } from '../src/semaphore.ts';
import { followSigningKeys } from '../src/signing-key.ts';
import { openSupportCollections } from '../src/support-collections.ts';
import { freshEmail, logIn, password, register, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ HASH_CONCURRENCY: '1', HASH_QUEUE: '3' });
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
      run(work) {
        counted.push('hashed');
        return work();
      },
    });
  });

  afterAll(() => database.close());

  it('checks exactly one hash, with and without an account, with the right password and the wrong one', async () => {
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
  it('refuses requests beyond the queue with Retry-After, and serves the others', async () => {
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

  it('does not affect a repeated registration, which needs no hash', async () => {
    const body = { email: freshEmail(), name: 'Kim Park', password };
    const send = () => accounts.client.post('/v1/accounts', { body, headers: { 'Idempotency-Key': 'once hashed' } });
    expect((await send()).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 30 }, send));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });

  it('is the reply to known and unknown e-mail addresses alike', async () => {
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
  it('all succeed with the default settings', async () => {
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

describe('the semaphore', () => {
  it('runs calls up to its limit concurrently and the others in order, and continues after a failure', async () => {
    const semaphore = new Semaphore({ running: 2, waiting: 3 });
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const work = (n: number) =>
      semaphore.run(
        () =>
          new Promise<number>((resolve, reject) => {
            started.push(n);
            finish[n] = () => (n === 1 ? reject(new Error('failed')) : resolve(n));
          }),
      );
    const all = [0, 1, 2, 3, 4].map((n) => work(n).catch(() => -1));
    await expect(work(5)).rejects.toThrow(Problem);
    expect(started).toEqual([0, 1]);
    finish[1]?.();
    expect(await all[1]).toBe(-1);
    await new Promise(setImmediate);
    expect(started).toEqual([0, 1, 2]);
    for (const n of [0, 2, 3, 4]) {
      finish[n]?.();
      await all[n];
      await new Promise(setImmediate);
    }
    expect(started).toEqual([0, 1, 2, 3, 4]);
    const last = work(6);
    finish[6]?.();
    expect(await last).toBe(6);
  });
});
