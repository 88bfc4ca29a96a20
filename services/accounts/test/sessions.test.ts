// GET and DELETE /v1/sessions, DELETE /v1/sessions/{sessionId}, on access tokens that the service issues itself.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer } from '@shop/shared/testing';
import { decodeJwt } from 'jose';
import { auditOf, type Holder, password, refresh, register, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
  const service = accounts.services.service('accounts');
  await service.restart({ JWKS_URL: `${service.url}/.well-known/jwks.json` });
});

afterAll(() => accounts.services.stop());

interface Session {
  readonly id: string;
  readonly token: string;
  readonly refreshToken: string;
}

const sessionIn = ({ body }: TestAnswer): Session => ({
  id: String(decodeJwt(body.access_token).sid),
  token: body.access_token,
  refreshToken: body.refresh_token,
});

async function begin({ email }: Holder, headers: Readonly<Record<string, string>> = {}): Promise<Session> {
  const answer = await accounts.client.post('/v1/tokens', { body: { email, password }, headers });
  expect(answer.status).toBe(200);
  return sessionIn(answer);
}

const list = (token: string) => accounts.client.get('/v1/sessions', { token });
const idsOf = ({ body }: TestAnswer): string[] => body.items.map(({ id }) => id);
const endOthers = (token: string) => accounts.client.call('DELETE', '/v1/sessions', { token });
const end = (token: string, id: string) => accounts.client.call('DELETE', `/v1/sessions/${id}`, { token });
const canRenew = async ({ refreshToken }: Session) => (await refresh(accounts, refreshToken)).status === 200;

describe('GET /v1/sessions', () => {
  it('the list of sessions begins with the current session and is then sorted by last use', async () => {
    const [holder, other] = [await register(accounts), await register(accounts)];
    await begin(other);
    const first = await begin(holder, { 'User-Agent': 'Browser/1', 'X-Forwarded-For': '203.0.113.7' });
    const second = await begin(holder, { 'User-Agent': 'Browser/2', 'X-Forwarded-For': '2001:db8::1' });
    const third = await begin(holder);
    const answer = await list(first.token);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('private, no-cache');
    expect(idsOf(answer)).toEqual([first.id, third.id, second.id]);
    const [shown, , last] = answer.body.items;
    expect(shown).toEqual({
      id: first.id,
      created_at: expect.stringMatching(/Z$/),
      last_used_at: shown?.created_at,
      address: '203.0.113.7',
      user_agent: 'Browser/1',
      current: true,
    });
    expect(last).toMatchObject({ address: '2001:db8::1', user_agent: 'Browser/2', current: false });
  });

  it('GET /v1/sessions shows the time, the address and the user agent of the last renewal', async () => {
    const holder = await register(accounts);
    const begun = await begin(holder, { 'User-Agent': 'Browser/1', 'X-Forwarded-For': '203.0.113.7' });
    const renewed = sessionIn(
      await accounts.client.post('/v1/tokens', {
        body: { refresh_token: begun.refreshToken },
        headers: { 'User-Agent': 'Browser/2', 'X-Forwarded-For': '203.0.113.8' },
      }),
    );
    expect(renewed.id).toBe(begun.id);
    const { items } = (await list(renewed.token)).body;
    expect(items).toMatchObject([{ id: begun.id, address: '203.0.113.8', user_agent: 'Browser/2', current: true }]);
    expect(String(items[0]?.last_used_at) > String(items[0]?.created_at)).toBe(true);
  });

  it.each([
    ['a text that is no address', { 'X-Forwarded-For': 'unknown' }],
    ['several addresses', { 'X-Forwarded-For': '203.0.113.7, 203.0.113.8' }],
    ['an address with a long zone', { 'X-Forwarded-For': `fe80::1%${'z'.repeat(40)}` }],
  ])('GET /v1/sessions shows no address for %s', async (_name, headers) => {
    const { token } = await begin(await register(accounts), headers);
    expect((await list(token)).body.items[0]).not.toHaveProperty('address');
  });

  it.each([
    ['control characters', 'one\ttwo \x85 three', 'one two   three'],
    ['more than 200 characters', 'x'.repeat(300), 'x'.repeat(200)],
    ['characters of Latin-1', 'caf\xe9', 'caf\xe9'],
  ])('GET /v1/sessions shows a user agent with %s in an acceptable form', async (_name, sent, shown) => {
    const { token } = await begin(await register(accounts), { 'User-Agent': sent });
    expect((await list(token)).body.items[0]?.user_agent).toBe(shown);
  });

  it('GET /v1/sessions shows no user agent that is empty', async () => {
    const { token } = await begin(await register(accounts), { 'User-Agent': '' });
    expect((await list(token)).body.items[0]).not.toHaveProperty('user_agent');
  });

  it('GET /v1/sessions shows sessions from before the upgrade, and leaves out those that have expired', async () => {
    const holder = await register(accounts);
    const [old, expired, current] = [await begin(holder), await begin(holder), await begin(holder)];
    const set = (change: string, { id }: Session) =>
      accounts.database.query(`UPDATE refresh_families SET ${change} WHERE id = $1`, [id]);
    await set('last_used_at = NULL, address = NULL, user_agent = NULL', old);
    await set("expires_at = now() - interval '1 second'", expired);
    const answer = await list(current.token);
    expect(idsOf(answer)).toEqual([current.id, old.id]);
    const [, shown] = answer.body.items;
    expect(shown?.last_used_at).toBe(shown?.created_at);
  });

  it('GET /v1/sessions lists at most 100 sessions, among them the current one', async () => {
    const holder = await register(accounts);
    const current = await begin(holder);
    await accounts.database.query(
      `INSERT INTO refresh_families (id, account_id, expires_at, created_at)
       SELECT gen_random_uuid(), $1, now() + interval '1 day', now() + interval '1 minute'
       FROM generate_series(1, 150)`,
      [holder.id],
    );
    const ids = idsOf(await list(current.token));
    expect(ids).toHaveLength(100);
    expect(ids[0]).toBe(current.id);
  });

  it('GET /v1/sessions returns 401 without a token', async () => {
    expect((await accounts.client.get('/v1/sessions')).status).toBe(401);
  });
});

describe('DELETE /v1/sessions/{sessionId}', () => {
  it('DELETE /v1/sessions/{sessionId} revokes this session only, and only once', async () => {
    const holder = await register(accounts);
    const [current, ended] = [await begin(holder), await begin(holder)];
    const answer = await end(current.token, ended.id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(idsOf(await list(current.token))).toEqual([current.id]);
    expect(await canRenew(ended)).toBe(false);
    expect((await end(current.token, ended.id)).status).toBe(404);
    expect(await canRenew(current)).toBe(true);
    expect(await auditOf(accounts, holder.id)).toContainEqual({ action: 'sessions-ended', detail: { sessions: 1 } });
  });

  it('DELETE /v1/sessions/{sessionId} revokes the current session', async () => {
    const session = await begin(await register(accounts));
    expect((await end(session.token, session.id)).status).toBe(204);
    expect(await canRenew(session)).toBe(false);
  });

  it('DELETE /v1/sessions/{sessionId} accepts an id in capital letters', async () => {
    const session = await begin(await register(accounts));
    expect((await end(session.token, session.id.toUpperCase())).status).toBe(204);
    expect(await canRenew(session)).toBe(false);
  });

  it('DELETE /v1/sessions/{sessionId} returns 404 for a session of another account, an unknown one, and a value that is not a UUID', async () => {
    const [mine, foreign] = [await begin(await register(accounts)), await begin(await register(accounts))];
    for (const id of [foreign.id, newId(), 'current']) {
      const answer = await end(mine.token, id);
      expect([answer.status, answer.body.code]).toEqual([404, 'not-found']);
    }
    expect(await canRenew(foreign)).toBe(true);
    expect(await canRenew(mine)).toBe(true);
  });

  it('DELETE /v1/sessions/{sessionId} leaves no valid refresh token after a concurrent renewal', async () => {
    const holder = await register(accounts);
    const current = await begin(holder);
    for (let round = 0; round < 5; round += 1) {
      const other = await begin(holder);
      const [ended, renewed] = await Promise.all([end(current.token, other.id), refresh(accounts, other.refreshToken)]);
      expect(ended.status).toBe(204);
      expect([200, 401]).toContain(renewed.status);
      if (renewed.status === 200) expect(await canRenew(sessionIn(renewed))).toBe(false);
    }
    expect(idsOf(await list(current.token))).toEqual([current.id]);
  });
});

describe('DELETE /v1/sessions', () => {
  it('DELETE /v1/sessions revokes all sessions of the account but the current one', async () => {
    const [holder, other] = [await register(accounts), await register(accounts)];
    const [first, current, last] = [await begin(holder), await begin(holder), await begin(holder)];
    const foreign = await begin(other);
    expect((await endOthers(current.token)).status).toBe(204);
    expect(idsOf(await list(current.token))).toEqual([current.id]);
    expect(await Promise.all([first, current, last, foreign].map(canRenew))).toEqual([false, true, false, true]);
    expect(await auditOf(accounts, holder.id)).toContainEqual({ action: 'sessions-ended', detail: { sessions: 2 } });
  });

  it('DELETE /v1/sessions returns 204 without another session, and adds no entry to the audit log', async () => {
    const holder = await register(accounts);
    const session = await begin(holder);
    expect((await endOthers(session.token)).status).toBe(204);
    expect(await canRenew(session)).toBe(true);
    expect((await auditOf(accounts, holder.id)).map(({ action }) => action)).toEqual(['login-succeeded']);
  });

  it('concurrent DELETE requests of several sessions and their renewals do not fail', async () => {
    const holder = await register(accounts);
    for (let round = 0; round < 3; round += 1) {
      const sessions = await Promise.all(Array.from({ length: 6 }, () => begin(holder)));
      const answers = await Promise.all(
        sessions.flatMap(({ token, refreshToken }) => [endOthers(token), refresh(accounts, refreshToken)]),
      );
      for (const { status } of answers) expect([200, 204, 401]).toContain(status);
      const { rows } = await accounts.database.query<{ total: number }>(
        'SELECT count(*)::int AS total FROM refresh_families WHERE account_id = $1',
        [holder.id],
      );
      expect(rows[0]?.total).toBeLessThanOrEqual(1);
    }
  });
});

describe('a token without the claim sid', () => {
  it('a token without the claim sid is valid, belongs to no session, and can revoke all of them', async () => {
    const service = accounts.services.service('accounts');
    await service.restart({ JWKS_URL: accounts.services.issuer.jwksUrl });
    const holder = await register(accounts);
    const session = await begin(holder);
    const answer = await list(holder.token);
    expect(answer.body.items).toMatchObject([{ id: session.id, current: false }]);
    expect((await endOthers(holder.token)).status).toBe(204);
    expect((await list(holder.token)).body.items).toEqual([]);
    expect(await canRenew(session)).toBe(false);
  });
});
