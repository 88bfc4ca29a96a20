// The process of accounts: how it starts, survives the loss of its database, and stops.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import { logIn, refresh, refreshTokenOf, register, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
});

afterAll(() => accounts.services.stop());

describe('start', () => {
  it('the accounts service names every configuration error in the environment on a line of its own, and repeats no secret', async () => {
    const service = accounts.services.service('accounts');
    const wrong = {
      KEY_ENCRYPTION_SECRET: 'short',
      JWT_ISSUER: '',
      HASH_QUEUE: 'many',
      JWT_ALGORITHM: 'none',
      DATABASE_URL: 'mysql://x:y@z',
    };
    await expect(service.restart(wrong)).rejects.toThrow('did not become ready');
    for (const line of [
      'accounts: KEY_ENCRYPTION_SECRET must have at least 32 characters',
      'accounts: JWT_ISSUER is required',
      'accounts: JWT_ALGORITHM must be one of ES256, EdDSA, RS256, PS256, not "none"',
      'accounts: HASH_QUEUE must be a whole number from 0 to 100000, not "many"',
      'accounts: DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
    ]) {
      expect(service.output()).toContain(line);
    }
    expect(service.output()).not.toContain('x:y@z');
    await service.restart();
  });

  it('the accounts service names the secret when it cannot decrypt the signing keys', async () => {
    const service = accounts.services.service('accounts');
    const other = { KEY_ENCRYPTION_SECRET: Buffer.alloc(32, 9).toString('base64url') };
    await expect(service.restart(other)).rejects.toThrow('did not become ready');
    expect(service.output()).toContain(
      'accounts: KEY_ENCRYPTION_SECRET does not open the signing keys in the database',
    );
    await service.restart();
  });

  it('the accounts service writes no password and no token into its log', async () => {
    const holder = await register(accounts);
    const token = await refreshTokenOf(accounts, holder);
    await logIn(accounts, holder.email, 'a wrong and dry desert');
    await refresh(accounts, token);
    const output = accounts.services.service('accounts').output();
    for (const secret of ['quiet river', 'dry desert', token, '$argon2']) expect(output).not.toContain(secret);
  });
});

describe('500', () => {
  it('a response with 500 contains no internal details, and its log lines contain no data of the customer', async () => {
    await accounts.database.query("ALTER TABLE accounts ADD CONSTRAINT unlucky CHECK (name <> 'Unlucky')");
    const body = { email: 'unlucky@example.com', name: 'Unlucky', password: 'a deep and silent well' };
    const answer = await accounts.client.post('/v1/accounts', { body });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toMatch(/unlucky|constraint|argon/i);
    const { output: read } = accounts.services.service('accounts');
    await eventually(() => expect(read()).toContain(answer.headers['x-request-id']));
    const output = read();
    expect(output).toContain('violates check constraint');
    expect(output).not.toMatch(/argon2id|unlucky@example|silent well/);
  });
});

describe('an unavailable database', () => {
  it('an unavailable database causes 503 with Retry-After until it is back, without a restart', async () => {
    const holder = await register(accounts);
    const name = new URL(accounts.services.database.adminUrl).pathname.slice(1);
    const { adminUrl } = accounts.services.database;
    const admin = new pg.Client({ connectionString: Object.assign(new URL(adminUrl), { pathname: '/postgres' }).href });
    await admin.connect();
    try {
      await admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`);
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      const answers = [
        await accounts.client.get(holder.path, { token: holder.token }),
        await logIn(accounts, holder.email),
        await accounts.client.get('/.well-known/jwks.json'),
        await accounts.client.patch(holder.path, { token: holder.token, body: { name: 'Away' } }),
      ];
      for (const { status, body, headers, text } of answers) {
        expect(status).toBe(503);
        expect(body.code).toBe('service-unavailable');
        expect(headers['retry-after']).toBe('1');
        expect(text).not.toContain(name);
      }
      const ready = await fetch(`${accounts.services.service('accounts').url}/health/ready`);
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({ checks: { database: 'failing' } });
    } finally {
      await admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT -1`);
      await admin.end();
    }
    await eventually(async () => expect((await logIn(accounts, holder.email)).status).toBe(200));
  });

  it('an unavailable database delays the start when it is lost while the signing keys are prepared', async () => {
    const service = accounts.services.service('accounts');
    const holder = new pg.Client({ connectionString: accounts.services.database.urls.accounts });
    await holder.connect();
    try {
      await holder.query("SELECT pg_advisory_lock(hashtextextended('signing keys ' || current_schema(), 0))");
      const started = service.restart();
      const ended: number[] = [];
      await eventually(async () => {
        const { rows } = await holder.query(
          `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event = 'advisory' AND query LIKE '%signing keys%'
             AND pid <> ALL ($1)`,
          [ended],
        );
        ended.push(...rows.map(({ pid }) => pid));
        expect(ended).toHaveLength(2);
      }, 20_000);
      await holder.query("SELECT pg_advisory_unlock(hashtextextended('signing keys ' || current_schema(), 0))");
      await started;
      expect(service.output().split('the start waits for the database')).toHaveLength(2);
    } finally {
      await holder.end();
    }
  });
});
