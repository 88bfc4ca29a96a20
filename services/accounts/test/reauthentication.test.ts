// Access tokens that were issued before a change of password or e-mail address, on tokens that the service issues
// itself.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  eventsOf,
  freshEmail,
  logIn,
  password,
  refresh,
  register,
  startAccounts,
  type TestAccounts,
  verify,
} from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
  const service = accounts.services.service('accounts');
  await service.restart({ JWKS_URL: `${service.url}/.well-known/jwks.json` });
});

afterAll(() => accounts.services.stop());

const newPassword = 'a short and loud brook';

async function tokenOf(email: string, secret = password): Promise<string> {
  const answer = await logIn(accounts, email, secret);
  expect(answer.status).toBe(200);
  return answer.body.access_token;
}

const patch = (token: string, body: object) => accounts.client.patch('/v1/accounts/me', { token, body });

describe('an access token from before a change of credentials', () => {
  it('an access token from before a change of credentials cannot change the password or the e-mail address, whereas a new token of the same second can', async () => {
    const { email } = await register(accounts);
    const stolen = await tokenOf(email);
    expect((await patch(await tokenOf(email), { password: newPassword })).status).toBe(200);

    // After at most two seconds, the token is refused altogether.
    const refused = [
      [403, 'reauthentication-required'],
      [401, 'unauthenticated'],
    ];
    for (const body of [{ password: 'the thief knows this one' }, { email: freshEmail() }]) {
      const answer = await patch(stolen, body);
      expect(refused).toContainEqual([answer.status, answer.body.code]);
    }
    const token = await tokenOf(email, newPassword);
    expect((await patch(token, { password })).status).toBe(200);
    const again = await patch(token, { password: newPassword });
    expect(refused).toContainEqual([again.status, again.body.code]);
  });

  it('an access token from before the verification of a new address counts as one from before the change', async () => {
    const { email, id } = await register(accounts);
    const token = await tokenOf(email);
    expect((await patch(token, { email: freshEmail() })).status).toBe(200);
    expect((await verify(accounts, id)).status).toBe(204);
    const stale = await patch(token, { email: freshEmail() });
    expect([stale.status, stale.body.code]).toEqual([403, 'reauthentication-required']);
  });

  it('an access token from before a change of credentials can still change other members, and may repeat the present address', async () => {
    const { email, id } = await register(accounts);
    const token = await tokenOf(email);
    const next = freshEmail();
    expect((await patch(token, { email: next })).status).toBe(200);
    expect((await verify(accounts, id)).status).toBe(204);
    expect((await patch(token, { name: 'Ada', email: next })).status).toBe(200);
  });

  it('an access token from before a change of credentials changes the credentials once when many concurrent requests use it', async () => {
    const { email, id } = await register(accounts);
    const token = await tokenOf(email);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => patch(token, { password: `new one ${n}` })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401 || status === 403)).toHaveLength(5);
    expect(await eventsOf(accounts, id)).toHaveLength(2);
  });
});

describe('a renewed access token', () => {
  it('a renewed access token retains the time of the log-in, and is not a proof of the account owner', async () => {
    const { email } = await register(accounts);
    const { body } = await logIn(accounts, email);
    const { auth_time: loggedInAt, iat } = decodeJwt(body.access_token);
    expect(loggedInAt).toBe(iat);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const renewed = await refresh(accounts, body.refresh_token);
    expect(Math.abs(Number(decodeJwt(renewed.body.access_token).auth_time) - Number(iat))).toBeLessThanOrEqual(1);
    const refused = await patch(renewed.body.access_token, { email: freshEmail() });
    expect([refused.status, refused.body.code]).toEqual([403, 'reauthentication-required']);
    const proven = await patch(renewed.body.access_token, { email: freshEmail(), current_password: password });
    expect(proven.status).toBe(200);
  });
});

describe('the event of a change', () => {
  it('the event of a change names the replaced credentials and the previous address', async () => {
    const { email, id } = await register(accounts);
    await verify(accounts, id);
    const next = freshEmail();
    const both = { email: next, password: newPassword };
    expect((await patch(await tokenOf(email), both)).status).toBe(200);
    expect((await verify(accounts, id)).status).toBe(204);
    expect((await patch(await tokenOf(next, newPassword), { name: 'Ada' })).status).toBe(200);
    const [, , password, changed, renamed] = await eventsOf(accounts, id);
    expect(password?.data).toMatchObject({ email, credentialsChanged: ['password'] });
    expect(changed?.data).toMatchObject({
      email: next,
      credentialsChanged: ['email'],
      previousEmail: email,
      previousEmailVerified: true,
    });
    expect(Object.keys(renamed?.data ?? {}).sort()).toEqual([
      'accountId',
      'email',
      'emailVerified',
      'name',
      'phoneNumber',
      'taxId',
    ]);
  });
});

describe('a log-in', () => {
  it('a log-in cannot be renewed after its end, even when it was renewed often', async () => {
    const { id, email } = await register(accounts);
    const { body } = await logIn(accounts, email);
    await accounts.database.query(
      "UPDATE refresh_families SET created_at = created_at - interval '89 days 23 hours 59 minutes'",
    );
    const renewed = await refresh(accounts, body.refresh_token);
    expect(renewed.status).toBe(200);
    const { rows } = await accounts.database.query<{ seconds: number }>(
      'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM refresh_families WHERE account_id = $1',
      [id],
    );
    expect(rows[0]?.seconds).toBeLessThanOrEqual(60);
    await accounts.database.query("UPDATE refresh_families SET expires_at = expires_at - interval '61 seconds'");
    expect((await refresh(accounts, renewed.body.refresh_token)).status).toBe(401);
  });
});
