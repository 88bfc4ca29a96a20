// POST /v1/tokens
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import {
  auditOf,
  freshEmail,
  type Holder,
  logIn,
  password,
  pointersOf,
  refresh,
  refreshTokenOf,
  register,
  startAccounts,
  type TestAccounts,
} from './accounts.ts';

let accounts: TestAccounts;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
  holder = await register(accounts);
});

afterAll(() => accounts.services.stop());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  accounts.client.post('/v1/tokens', { body, headers });

describe('200', () => {
  it('POST /v1/tokens issues an access token that verifiers accept', async () => {
    const { status, body, headers } = await logIn(accounts, holder.email);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
    expect(body.refresh_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const { issuer, audience } = accounts.services.issuer;
    const keySet = createRemoteJWKSet(new URL('/.well-known/jwks.json', accounts.services.service('accounts').url));
    const { payload, protectedHeader } = await jwtVerify(body.access_token, keySet, { issuer, audience });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const { iat = 0, exp = 0 } = payload;
    expect(payload).toEqual({
      iss: issuer,
      aud: audience,
      sub: holder.id,
      accountId: holder.id,
      scope: '',
      credentialsVersion: 0,
      email_verified: false,
      auth_time: iat,
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat,
      exp,
      jti: expect.any(String),
    });
    expect(exp - iat).toBe(900);
  });

  it('POST /v1/tokens creates a new id for every token', async () => {
    const [one, two] = [await logIn(accounts, holder.email), await logIn(accounts, holder.email)];
    expect(decodeJwt(one.body.access_token).jti).not.toBe(decodeJwt(two.body.access_token).jti);
  });

  it.each([(email: string) => email.toUpperCase(), (email: string) => `  ${email}  `])(
    'POST /v1/tokens accepts any spelling of the e-mail address',
    async (spell) => {
      expect((await logIn(accounts, spell(holder.email))).status).toBe(200);
    },
  );

  it('POST /v1/tokens renews with a refresh token and replaces it', async () => {
    const first = await refreshTokenOf(accounts, holder);
    const answer = await refresh(accounts, first);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body.refresh_token).not.toBe(first);
    expect(decodeJwt(answer.body.access_token)).toMatchObject({ sub: holder.id, accountId: holder.id });
    expect((await refresh(accounts, answer.body.refresh_token)).status).toBe(200);
  });

  it('repeated and concurrent requests with a refresh token return the same new token until the new token is used', async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await refreshTokenOf(accounts, holder);
      const answers = await Promise.all([1, 2, 3].map(() => refresh(accounts, first)));
      answers.push(await refresh(accounts, first));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const successors = new Set(answers.map(({ body }) => body.refresh_token));
      expect(successors.size).toBe(1);
      for (const { body } of answers) expect(decodeJwt(body.access_token)).toMatchObject({ accountId: holder.id });
      const [second = ''] = successors;
      const third = (await refresh(accounts, second)).body.refresh_token;
      expect((await refresh(accounts, second)).body.refresh_token).toBe(third);
      expect((await refresh(accounts, third)).status).toBe(200);
    }
  });

  it('POST /v1/tokens stores refresh tokens as digests only', async () => {
    const token = await refreshTokenOf(accounts, holder);
    const { rows } = await accounts.database.query(
      "SELECT string_agg(t::text, '') || string_agg(f::text, '') AS everything " +
        'FROM refresh_tokens t, refresh_families f',
    );
    expect(rows[0].everything).not.toContain(token);
  });

  it('POST /v1/tokens writes a log-in into the audit log', async () => {
    const { id, email } = await register(accounts);
    await post({ email, password }, { 'X-Request-Id': 'audited-log-in' });
    expect(await auditOf(accounts, id)).toEqual([{ action: 'login-succeeded', detail: {} }]);
    const { rows } = await accounts.database.query(
      "SELECT account_id FROM audit_log WHERE request_id = 'audited-log-in'",
    );
    expect(rows).toEqual([{ account_id: id }]);
  });
});

describe('400', () => {
  it('POST /v1/tokens returns 400 for an Idempotency-Key together with all other faults, and issues nothing', async () => {
    const { id, email } = await register(accounts);
    const headers = { 'Idempotency-Key': 'log-in-1' };
    const answer = await post({ email, password }, headers);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-request']);
    expect(answer.body.errors).toEqual([
      { header: 'Idempotency-Key', detail: 'is not accepted here: tokens are not stored for a replay' },
    ]);
    const both = await accounts.client.post('/v1/tokens?page=1', { body: { email }, headers });
    expect(both.body.errors.map(({ pointer, parameter, header }) => pointer ?? parameter ?? header)).toEqual([
      'page',
      '/password',
      'Idempotency-Key',
    ]);
    expect(await auditOf(accounts, id)).toEqual([]);
  });

  it.each([
    [{}, ['/email', '/password']],
    [{ email: 'a@example.com' }, ['/password']],
    [{ password }, ['/email']],
    [{ email: 5, password: true }, ['/email', '/password']],
    [{ email: '', password: '' }, ['/email', '/password']],
    [{ email: null, password: null }, ['/email', '/password']],
    [{ email: { $ne: '' }, password: { $ne: '' } }, ['/email', '/password']],
    [{ email: 'a@example.com', password: 'x'.repeat(129) }, ['/password']],
    [{ email: 'a@example.com', password, refresh_token: 'x' }, ['']],
    [{ refresh_token: '' }, ['/refresh_token']],
    [{ refresh_token: ['x'] }, ['/refresh_token']],
    [{ refresh_token: 'x'.repeat(129) }, ['/refresh_token']],
    [{ email: 'a@example.com', password, scope: 'orders:read-all' }, ['/scope']],
    [{ grant_type: 'password', username: 'a@example.com', password }, ['/grant_type', '/username', '/email']],
    [{ email: 'a@example.com', password: 'a\0bcdefgh' }, ['/password']],
    [[], ['']],
  ])('POST /v1/tokens returns 400 for %j', async (body, pointers) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(pointersOf(answer).sort()).toEqual([...pointers].sort());
  });
});

describe('401', () => {
  it('POST /v1/tokens returns the same 401 to a wrong password and to an unknown e-mail address', async () => {
    const instance = { 'X-Request-Id': 'the-same' };
    const wrong = await post({ email: holder.email, password: 'not the river' }, instance);
    const unknown = await post({ email: freshEmail(), password }, instance);
    expect(wrong.status).toBe(401);
    expect(wrong.body.code).toBe('invalid-credentials');
    expect(wrong.headers['www-authenticate']).toBe('Bearer realm="shop"');
    expect(unknown.text).toBe(wrong.text);
    expect({ ...unknown.headers, date: '' }).toEqual({ ...wrong.headers, date: '' });
  });

  it.each(['x', 'not an e-mail', "' OR 1=1 --", 'a@example.com\0'.replace('\0', ''), '%'])(
    'a log-in with the unknown e-mail %j returns 401',
    async (email) => {
      expect((await post({ email, password })).status).toBe(401);
    },
  );

  it.each([
    ['in other case', password.toUpperCase()],
    ['with blanks around', ` ${password} `],
    ['too short to be one', 'x'],
    [
      'the hash itself',
      '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
  ])('POST /v1/tokens returns 401 for a password %s', async (_, secret) => {
    expect((await logIn(accounts, holder.email, secret)).status).toBe(401);
  });

  it('POST /v1/tokens writes a failed log-in into the audit log, with and without an account', async () => {
    const { email, id } = await register(accounts);
    await post({ email, password: 'not the river' }, { 'X-Request-Id': 'failed-known' });
    await post({ email: freshEmail(), password }, { 'X-Request-Id': 'failed-unknown' });
    const { rows } = await accounts.database.query(
      "SELECT account_id, action FROM audit_log WHERE request_id IN ('failed-known', 'failed-unknown') ORDER BY id",
    );
    expect(rows).toEqual([
      { account_id: id, action: 'login-failed' },
      { account_id: null, action: 'login-failed' },
    ]);
  });

  it('POST /v1/tokens returns 401 for an unknown refresh token', async () => {
    const answer = await refresh(accounts, 'A'.repeat(43));
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe('invalid-credentials');
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="shop"');
  });

  it('POST /v1/tokens returns 401 for an access token as a refresh token, and a refresh token as an access token', async () => {
    const { body } = await logIn(accounts, holder.email);
    const asRefresh = await post({ refresh_token: body.access_token });
    expect(asRefresh.status).toBe(400);
    const asAccess = await accounts.client.get('/v1/accounts/me', { token: body.refresh_token });
    expect(asAccess.status).toBe(401);
  });

  it('reuse of a token after its new token was used revokes the family, and the response is that for an unknown token', async () => {
    const { id, email } = await register(accounts);
    const first = (await logIn(accounts, email)).body.refresh_token;
    const otherFamily = (await logIn(accounts, email)).body.refresh_token;
    const used = (await refresh(accounts, first)).body.refresh_token;
    const second = (await refresh(accounts, used)).body.refresh_token;
    const instance = { 'X-Request-Id': 'the-same' };
    const reused = await post({ refresh_token: first }, instance);
    expect(reused.status).toBe(401);
    expect(reused.text).toBe((await post({ refresh_token: 'B'.repeat(43) }, instance)).text);
    expect((await refresh(accounts, second)).status).toBe(401);
    expect((await refresh(accounts, otherFamily)).status).toBe(200);
    expect((await auditOf(accounts, id)).map(({ action }) => action)).toEqual([
      'login-succeeded',
      'login-succeeded',
      'refresh-token-reused',
    ]);
  });

  it('reuse of a refresh token after a minute revokes the family, although the new token is unused', async () => {
    const { id, email } = await register(accounts);
    const first = (await logIn(accounts, email)).body.refresh_token;
    const second = (await refresh(accounts, first)).body.refresh_token;
    const isUsed = 'family_id IN (SELECT id FROM refresh_families WHERE account_id = $1) AND used_at IS NOT NULL';
    const age = (seconds: number) =>
      accounts.database.query(`UPDATE refresh_tokens SET used_at = now() - $2 * interval '1 second' WHERE ${isUsed}`, [
        id,
        seconds,
      ]);
    await age(55);
    expect((await refresh(accounts, first)).body.refresh_token).toBe(second);
    await age(61);
    expect((await refresh(accounts, first)).status).toBe(401);
    expect((await refresh(accounts, second)).status).toBe(401);
  });

  it('POST /v1/tokens does not return a new token of an expired family again', async () => {
    const { id, email } = await register(accounts);
    const first = (await logIn(accounts, email)).body.refresh_token;
    await refresh(accounts, first);
    await accounts.database.query(
      "UPDATE refresh_families SET expires_at = now() - interval '1 second' WHERE account_id = $1",
      [id],
    );
    expect((await refresh(accounts, first)).status).toBe(401);
  });

  it('POST /v1/tokens leaves at most one unused token in a family after concurrent requests with its old and new tokens', async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await refreshTokenOf(accounts, holder);
      const second = (await refresh(accounts, first)).body.refresh_token;
      const answers = await Promise.all([first, second, first, second].map((token) => refresh(accounts, token)));
      for (const { status } of answers) expect([200, 401]).toContain(status);
      const forks = await accounts.database.query(
        'SELECT family_id FROM refresh_tokens WHERE used_at IS NULL GROUP BY family_id HAVING count(*) > 1',
      );
      expect(forks.rows).toEqual([]);
    }
  });

  it('a request with an expired refresh token returns 401', async () => {
    const token = await refreshTokenOf(accounts, holder);
    await accounts.database.query("UPDATE refresh_families SET expires_at = now() - interval '1 second'");
    expect((await refresh(accounts, token)).status).toBe(401);
  });

  it('POST /v1/tokens leaves no valid token from a log-in that was concurrent with a change of the password', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { email, path, token } = await register(accounts);
      const [changed, ...logIns] = await Promise.all([
        accounts.client.patch(path, { token, body: { password: 'a short and loud brook' } }),
        logIn(accounts, email),
        logIn(accounts, email),
        logIn(accounts, email),
      ]);
      expect(changed.status).toBe(200);
      for (const { status, body } of logIns) {
        expect([200, 401]).toContain(status);
        if (status === 200) expect((await refresh(accounts, body.refresh_token)).status).toBe(401);
      }
    }
  });
});
