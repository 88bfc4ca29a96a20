// POST /v1/tokens/revoke
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, lockWaits } from '@shop/shared/testing';
import {
  auditOf,
  type Holder,
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

const revoke = (body: unknown) => accounts.client.post('/v1/tokens/revoke', { body });

describe('204', () => {
  it('POST /v1/tokens/revoke revokes the family of the token, and no other log-in', async () => {
    const [token, other] = [await refreshTokenOf(accounts, holder), await refreshTokenOf(accounts, holder)];
    const answer = await revoke({ refresh_token: token });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect((await refresh(accounts, token)).status).toBe(401);
    expect((await refresh(accounts, other)).status).toBe(200);
  });

  it('POST /v1/tokens/revoke revokes the whole family when the token was used before', async () => {
    const first = await refreshTokenOf(accounts, holder);
    const second = (await refresh(accounts, first)).body.refresh_token;
    await revoke({ refresh_token: first });
    expect((await refresh(accounts, second)).status).toBe(401);
  });

  it('POST /v1/tokens/revoke does not reveal whether the token existed', async () => {
    const token = await refreshTokenOf(accounts, holder);
    const answers = [
      await revoke({ refresh_token: token }),
      await revoke({ refresh_token: token }),
      await revoke({ refresh_token: 'C'.repeat(43) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  });

  it('POST /v1/tokens/revoke leaves no valid token after a concurrent renewal and revocation', async () => {
    for (let round = 0; round < 5; round += 1) {
      const token = await refreshTokenOf(accounts, holder);
      const [revoked, renewed] = await Promise.all([revoke({ refresh_token: token }), refresh(accounts, token)]);
      expect(revoked.status).toBe(204);
      expect([200, 401]).toContain(renewed.status);
      if (renewed.status === 200) expect((await refresh(accounts, renewed.body.refresh_token)).status).toBe(401);
    }
  });
});

describe('a renewal that waits for a log-out', () => {
  it('a renewal that waits for a log-out is rejected, and does not count as the reuse of a token', async () => {
    const { database } = accounts;
    const token = await refreshTokenOf(accounts, holder);
    const logOut = await database.connect();
    try {
      await logOut.query('BEGIN');
      await logOut.query('DELETE FROM refresh_families WHERE account_id = $1', [holder.id]);
      const renewal = refresh(accounts, token);
      await eventually(async () => expect(await lockWaits(database)).toBe(1));
      await logOut.query('COMMIT');
      expect((await renewal).status).toBe(401);
    } finally {
      logOut.release();
    }
    const actions = (await auditOf(accounts, holder.id)).map(({ action }) => action);
    expect(actions).not.toContain('refresh-token-reused');
  });
});

describe('400', () => {
  it.each([
    [{}, '/refresh_token'],
    [{ refresh_token: null }, '/refresh_token'],
    [{ refresh_token: '' }, '/refresh_token'],
    [{ token: 'x', refresh_token: 'x' }, '/token'],
    [[], ''],
  ])('POST /v1/tokens/revoke returns 400 for %j', async (body, pointer) => {
    const answer = await revoke(body);
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toContain(pointer);
  });
});

describe('415', () => {
  it('POST /v1/tokens/revoke returns 415 for a form-encoded body', async () => {
    const answer = await accounts.client.post('/v1/tokens/revoke', {
      rawBody: 'token=x',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.status).toBe(415);
  });
});
