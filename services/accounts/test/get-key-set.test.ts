// GET /.well-known/jwks.json, and the keys behind it: at the start, in a rotation, after a revocation.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database, sql } from '@shop/shared/database';
import { createLog } from '@shop/shared/runtime';
import { eventually, lockWaits } from '@shop/shared/testing';
import { decodeProtectedHeader } from 'jose';
import { listKeys, revokeKey, rotateKeys } from '../src/operator/signing-keys.ts';
import { createKeyEncryption } from '../src/session/key-encryption.ts';
import { prepareSigningKeys } from '../src/session/signing-key.ts';
import { type Holder, logIn, register, startAccounts, type TestAccounts } from './accounts.ts';

const path = '/.well-known/jwks.json';
const encryption = createKeyEncryption([Buffer.alloc(32, 7).toString('base64url')]);
let accounts: TestAccounts;
let holder: Holder;
let database: Database;

/** The service verifies its own tokens, as it does behind the gateway. */
const restart = () => {
  const service = accounts.services.service('accounts');
  return service.restart({ JWKS_URL: `${service.url}${path}` });
};

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
  await restart();
  holder = await register(accounts);
  const url = accounts.services.database.urls.accounts;
  database = connectDatabase({ url, name: 'test', log: createLog('test', 'silent') });
});

afterAll(async () => {
  await database.close();
  await accounts.services.stop();
});

/** Makes the next key look as old as after years without a rotation, so that a rotation does not wait. */
const age = () =>
  accounts.database.query("UPDATE signing_keys SET created_at = created_at - interval '10 years' WHERE state = 'next'");
const rotate = async () => {
  await age();
  await rotateKeys(database, encryption);
};
/** Opens the pool's connections, so that concurrent calls run concurrently. */
const openConnections = () =>
  Promise.all(Array.from({ length: 5 }, () => database.transaction((tx) => sql(tx, 'SELECT pg_sleep(0.3)'))));
const kidOf = async (state: string) => (await listKeys(database)).find((key) => key.state === state)?.kid ?? '';
const published = async (): Promise<string[]> => (await accounts.client.get(path)).body.keys.map(({ kid }) => kid);
const newToken = async (): Promise<string> => (await logIn(accounts, holder.email)).body.access_token;
const use = (token: string) => accounts.client.get('/v1/accounts/me', { token });

describe('200', () => {
  it('GET /.well-known/jwks.json contains the current and the next key, without their private parts', async () => {
    const answer = await accounts.client.get(path);
    expect(answer.status).toBe(200);
    expect(answer.body.keys).toHaveLength(2);
    for (const key of answer.body.keys) expect(key).not.toHaveProperty('d');
    expect(await published()).toEqual(expect.arrayContaining([await kidOf('current'), await kidOf('next')]));
    expect(answer.headers['cache-control']).toBe('public, max-age=1');
  });

  it('GET /.well-known/jwks.json contains the same keys after a restart', async () => {
    const before = await published();
    await restart();
    expect(await published()).toEqual(before);
  });

  it('the private parts of the published keys are stored encrypted', async () => {
    const { rows } = await accounts.database.query("SELECT kid, private_key FROM signing_keys WHERE state = 'current'");
    const [{ kid, private_key: encrypted }] = rows;
    expect(Buffer.from(encrypted, 'base64url').toString('latin1')).not.toContain('PRIVATE KEY');
    expect(encryption.decrypt(encrypted, kid)).toContain('PRIVATE KEY');
  });
});

describe('304', () => {
  it('GET /.well-known/jwks.json returns 304 until the keys change', async () => {
    const { headers } = await accounts.client.get(path);
    const known = { headers: { 'If-None-Match': headers.etag ?? '' } };
    const answer = await accounts.client.get(path, known);
    expect(answer.status).toBe(304);
    expect(answer.headers.etag).toBe(headers.etag);
    await rotate();
    expect((await accounts.client.get(path, known)).status).toBe(200);
  });
});

describe('a rotation', () => {
  it('a rotation of keys promotes the next key, keeps the previous one published, and rejects no token', async () => {
    const [current, next, before] = [await kidOf('current'), await kidOf('next'), await newToken()];
    expect(decodeProtectedHeader(before).kid).toBe(current);
    await eventually(async () => expect((await use(before)).status).toBe(200));
    await rotate();
    const after = await listKeys(database);
    expect(after.find(({ kid }) => kid === current)).toMatchObject({ state: 'retiring', published: true });
    expect(after.find(({ kid }) => kid === next)).toMatchObject({ state: 'current', published: true });
    expect(after.filter(({ state }) => state === 'next')).toHaveLength(1);
    const token = await newToken();
    expect(decodeProtectedHeader(token).kid).toBe(next);
    await eventually(async () => expect((await use(token)).status).toBe(200));
    expect((await use(before)).status).toBe(200);
    expect(await published()).toContain(current);
  });

  it('a rotation waits until verifiers have read the next key, so that immediate further rotations reject no token', async () => {
    await rotate();
    let done = false;
    const rotating = rotateKeys(database, encryption).finally(() => {
      done = true;
    });
    const used = [];
    while (!done || used.length < 5) used.push((await use(await newToken())).status);
    await rotating;
    used.push((await use(await newToken())).status);
    expect(new Set(used.slice(1))).toEqual(new Set([200]));
  });

  it('a rotation leaves one current and one next key after several concurrent rotations', async () => {
    await age();
    const before = await listKeys(database);
    // The table is locked until both calls wait for the lock.
    const holds = await accounts.database.connect();
    await holds.query("BEGIN; SELECT FROM signing_keys WHERE state = 'current' FOR UPDATE");
    const rotations = Promise.all([rotateKeys(database, encryption), rotateKeys(database, encryption)]);
    await eventually(async () => expect(await lockWaits(accounts.database)).toBe(2)).finally(() =>
      holds.query('COMMIT'),
    );
    holds.release();
    await rotations;
    const states = (await listKeys(database)).map(({ state }) => state);
    expect(states.filter((state) => state === 'current')).toHaveLength(1);
    expect(states.filter((state) => state === 'next')).toHaveLength(1);
    expect(states).toHaveLength(before.length + 2);
  });

  it('a rotation removes a previous key after its last token has expired, and deletes its private part immediately', async () => {
    const kid = await kidOf('retiring');
    const retired = (ago: string) =>
      accounts.database.query('UPDATE signing_keys SET retired_at = now() - $2::interval WHERE kid = $1', [kid, ago]);
    await retired('15 minutes 10 seconds');
    expect(await published()).toContain(kid);
    await retired('20 minutes');
    expect(await published()).not.toContain(kid);
    const { rows } = await accounts.database.query("SELECT private_key FROM signing_keys WHERE state = 'retiring'");
    for (const row of rows) expect(row.private_key).toBeNull();
  });

  it('a rotation is rejected when the key set would exceed the size that verifiers accept', async () => {
    await accounts.database.query(
      `INSERT INTO signing_keys (kid, state, public_jwk, retired_at)
       SELECT 'filler-' || n, 'retiring', '{}', now() FROM generate_series(1, 30) AS n`,
    );
    await expect(rotate()).rejects.toThrow('too many keys are still published');
    await accounts.database.query("DELETE FROM signing_keys WHERE kid LIKE 'filler-%'");
  });
});

describe('a revocation', () => {
  beforeEach(age);

  it('a revocation removes the current key from the set immediately; the next key replaces it', async () => {
    const [current, next, before] = [await kidOf('current'), await kidOf('next'), await newToken()];
    await eventually(async () => expect((await use(before)).status).toBe(200));
    await revokeKey(database, encryption, current);
    expect(await published()).not.toContain(current);
    const token = await newToken();
    expect(decodeProtectedHeader(token).kid).toBe(next);
    await eventually(async () => expect((await use(before)).status).toBe(401));
    expect((await use(token)).status).toBe(200);
  });

  it('a revocation replaces a next key, and leaves the current one', async () => {
    const [current, next] = [await kidOf('current'), await kidOf('next')];
    await revokeKey(database, encryption, next);
    expect(await published()).not.toContain(next);
    expect(await kidOf('current')).toBe(current);
    expect(await published()).toContain(await kidOf('next'));
  });

  it('a revocation removes a retiring key from the set', async () => {
    await rotate();
    const kid = await kidOf('retiring');
    await revokeKey(database, encryption, kid);
    expect(await published()).not.toContain(kid);
  });

  it('a revocation changes nothing when it is repeated', async () => {
    const before = await listKeys(database);
    await revokeKey(database, encryption, await kidOf('revoked'));
    expect(await listKeys(database)).toEqual(before);
  });

  it('a revocation deletes the private part of the key', async () => {
    const { rows } = await accounts.database.query("SELECT private_key FROM signing_keys WHERE state = 'revoked'");
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.private_key).toBeNull();
  });

  it('revoking an unknown key is rejected', async () => {
    await expect(revokeKey(database, encryption, 'no-such-key')).rejects.toThrow('there is no signing key no-such-key');
  });
});

describe('several processes', () => {
  it('several processes create one pair of keys when they start concurrently on an empty table', async () => {
    await openConnections();
    await accounts.database.query('DELETE FROM signing_keys');
    await Promise.all(Array.from({ length: 5 }, () => prepareSigningKeys(database, encryption)));
    expect((await listKeys(database)).map(({ state }) => state).sort()).toEqual(['current', 'next']);
  });
});
