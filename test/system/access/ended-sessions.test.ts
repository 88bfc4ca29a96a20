// Access tokens are refused within 2 s of the end of their session, by the gateway and by every service.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMachine, grantScopes, revokeMachine, revokeScopes } from '@shop/accounts/operator';
import { eventually, startServices, type TestService } from '@shop/shared/testing';
import { decodeJwt } from 'jose';
import { startGateway, type TestGateway } from '../../../gateway/test/start-gateway.ts';
import {
  emailTokenOf,
  freshEmail,
  type Holder,
  logIn,
  password,
  refresh,
  register,
  type TestAccounts,
  verify,
} from '../../../services/accounts/test/accounts.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const newPassword = 'a short and loud brook';
let accounts: TestAccounts;
let orders: TestService;
let gateway: TestGateway;

beforeAll(async () => {
  const services = await startServices(['accounts', 'orders'], { shared: false });
  const service = services.service('accounts');
  orders = services.service('orders');
  accounts = { services, client: service.client, database: service.database };
  const keySet = { JWKS_URL: `${service.url}/.well-known/jwks.json` };
  await Promise.all([service.restart(keySet), orders.restart(keySet)]);
  gateway = await startGateway({
    ...keySet,
    GATEWAY_CONFIG_DIR: join(root, 'gateway/config'),
    ACCOUNTS_URL: service.url,
    ORDERS_URL: orders.url,
  });
});
afterAll(async () => {
  await gateway?.stop();
  await accounts?.services.stop();
});

interface Session {
  readonly id: string;
  readonly token: string;
  readonly refreshToken: string;
}

async function begin({ email }: Pick<Holder, 'email'>, secret = password): Promise<Session> {
  const { status, body } = await logIn(accounts, email, secret);
  expect(status).toBe(200);
  return sessionIn(body);
}

function sessionIn(body: { access_token: string; refresh_token: string }): Session {
  const { access_token: token, refresh_token: refreshToken } = body;
  return { id: String(decodeJwt(token).sid), token, refreshToken };
}

/** Returns the statuses of requests with this access token: to both services, through the gateway and directly. */
async function statusesWith(token: string): Promise<number[]> {
  const bases = [gateway.url, accounts.services.service('accounts').url];
  const targets = [
    ...bases.map((base) => new URL('/v1/accounts/me', base)),
    ...[gateway.url, orders.url].map((base) => new URL('/v1/orders', base)),
  ];
  const headers = { Authorization: `Bearer ${token}` };
  const answers = await Promise.all(targets.map((target) => fetch(target, { headers })));
  return Promise.all(
    answers.map(async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
}

const everywhere = (status: number): number[] => [status, status, status, status];

/** Repeats requests until all are refused, and expects that none of those sent 2 s after `since` was accepted. */
async function expectOnlyRefusals(statuses: () => Promise<number[]>, since: number): Promise<void> {
  let acceptedUntil = since;
  await eventually(async () => {
    const sentAt = performance.now();
    const received = await statuses();
    if (received.some((status) => status !== 401)) acceptedUntil = sentAt;
    expect(received).toEqual(received.map(() => 401));
  });
  expect(acceptedUntil - since).toBeLessThan(2_000);
}

async function expectRefusedWithin2Seconds({ token, refreshToken }: Session, since: number): Promise<void> {
  await expectOnlyRefusals(() => statusesWith(token), since);
  expect((await refresh(accounts, refreshToken)).status).toBe(401);
}

const call = (method: string, path: string, token: string, body?: object) =>
  accounts.client.call(method, path, { token, ...(body && { body }) });

/** Sends a request of a member of staff with a token from a new log-in. */
async function act(accountId: string, action: 'block' | 'unblock' | 'end-sessions'): Promise<void> {
  const { email } = await register(accounts);
  await grantScopes({ DATABASE_URL: accounts.services.database.urls.accounts }, email, ['accounts:support']);
  const { token } = await begin({ email });
  expect((await call('POST', `/v1/accounts/${accountId}/${action}`, token, { reason: 'Test' })).status).toBe(204);
}

/** Actions that each end the session `ended`. Those with `all` also end the session `other` of the same account. */
const ends: Record<string, { readonly all?: true; end(account: Holder, sessions: Session[]): Promise<unknown> }> = {
  'a log-out': {
    end: (_account, [ended]) =>
      accounts.client.post('/v1/tokens/revoke', { body: { refresh_token: ended?.refreshToken } }),
  },
  'the end of the session': {
    end: (_account, [ended, other]) => call('DELETE', `/v1/sessions/${ended?.id}`, other?.token ?? ''),
  },
  'the end of all other sessions': { end: (_account, [, other]) => call('DELETE', '/v1/sessions', other?.token ?? '') },
  'the reuse of a refresh token': {
    async end(_account, [ended]) {
      const renewed = await refresh(accounts, ended?.refreshToken ?? '');
      await refresh(accounts, renewed.body.refresh_token);
      expect((await refresh(accounts, ended?.refreshToken ?? '')).status).toBe(401);
    },
  },
  'a changed password': {
    all: true,
    end: (_account, [ended]) => call('PATCH', '/v1/accounts/me', ended?.token ?? '', { password: newPassword }),
  },
  'a password reset': {
    all: true,
    async end({ id, email }) {
      await accounts.client.post('/v1/password-resets', { body: { email } });
      const token = await emailTokenOf(accounts, id, 'password-reset');
      return accounts.client.post('/v1/password-resets/confirm', { body: { token, password: newPassword } });
    },
  },
  'a block by staff': { all: true, end: ({ id }) => act(id, 'block') },
  'the end of all sessions by staff': { all: true, end: ({ id }) => act(id, 'end-sessions') },
  'a revoked scope': {
    all: true,
    async end({ email }) {
      const environment = { DATABASE_URL: accounts.services.database.urls.accounts };
      await grantScopes(environment, email, ['orders:fulfil', 'orders:read-all']);
      await revokeScopes(environment, email, ['orders:read-all']);
    },
  },
  'the undoing of a change of the address': {
    all: true,
    async end({ id }, [ended]) {
      await verify(accounts, id);
      const change = { email: freshEmail(), current_password: password };
      expect((await call('PATCH', '/v1/accounts/me', ended?.token ?? '', change)).status).toBe(200);
      const token = await emailTokenOf(accounts, id, 'email-change-undo');
      return accounts.client.post('/v1/email-verifications/undo', { body: { token } });
    },
  },
};

describe.each(Object.entries(ends))('%s', (name, { all, end }) => {
  it('the end of a session by an action revokes its access tokens within 2 s, and no others', async () => {
    const [account, stranger] = [await register(accounts), await register(accounts)];
    const [ended, other, foreign] = [await begin(account), await begin(account), await begin(stranger)];
    for (const { token } of [ended, other, foreign]) expect(await statusesWith(token)).toEqual(everywhere(200));
    await end(account, [ended, other]);
    const endedAt = performance.now();
    await expectRefusedWithin2Seconds(ended, endedAt);
    if (all) await expectRefusedWithin2Seconds(other, endedAt);
    else expect(await statusesWith(other.token)).toEqual(everywhere(200));
    expect(await statusesWith(foreign.token)).toEqual(everywhere(200));
    expect((await refresh(accounts, foreign.refreshToken)).status).toBe(200);
    if (name === 'a block by staff') await act(account.id, 'unblock');
    // The tokens of a log-in that follows immediately are not affected.
    const again = await begin(account, name.includes('password') ? newPassword : password);
    expect(await statusesWith(again.token)).toEqual(everywhere(200));
  });
});

it('a revocation voids the access tokens of a machine within 2 s, at the gateway and at the service', async () => {
  const environment = { DATABASE_URL: accounts.services.database.urls.accounts };
  const { clientId, clientSecret } = await createMachine(environment, 'reader', ['orders:read-all']);
  const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const { access_token: token } = (await accounts.client.post('/v1/tokens', { body })).body;
  const statuses = () =>
    Promise.all(
      [gateway.url, orders.url].map(async (base) => {
        const headers = { Authorization: `Bearer ${token}` };
        return (await fetch(new URL('/v1/orders?accountId=all', base), { headers })).status;
      }),
    );
  expect(await statuses()).toEqual([200, 200]);
  await revokeMachine(environment, 'reader');
  const revokedAt = performance.now();
  await expectOnlyRefusals(statuses, revokedAt);
});

it('a log-in in the second of a changed password stays valid', async () => {
  const account = await register(accounts);
  const first = await begin(account);
  expect((await call('PATCH', '/v1/accounts/me', first.token, { password: newPassword })).status).toBe(200);
  const changedAt = performance.now();
  const second = await begin(account, newPassword);
  await expectRefusedWithin2Seconds(first, changedAt);
  expect(await statusesWith(second.token)).toEqual(everywhere(200));
});

it('a renewal that races with the end of its session leaves no valid token', async () => {
  const account = await register(accounts);
  const current = await begin(account);
  const left: Session[] = [];
  for (let round = 0; round < 6; round += 1) {
    const other = await begin(account);
    left.push(other);
    const path = round % 2 === 0 ? `/v1/sessions/${other.id}` : '/v1/sessions';
    const [ended, ...renewals] = await Promise.all([
      call('DELETE', path, current.token),
      refresh(accounts, other.refreshToken),
      refresh(accounts, other.refreshToken),
    ]);
    expect(ended.status).toBe(204);
    left.push(...renewals.filter(({ status }) => status === 200).map(({ body }) => sessionIn(body)));
  }
  await sleep(2_000);
  for (const { token, refreshToken } of left) {
    expect(await statusesWith(token)).toEqual(everywhere(401));
    expect((await refresh(accounts, refreshToken)).status).toBe(401);
  }
  expect(await statusesWith(current.token)).toEqual(everywhere(200));
});

describe('accounts that is killed', () => {
  it('the killed accounts service leaves other tokens valid, and has not forgotten the ended session when it is back', async () => {
    const account = await register(accounts);
    const [ended, current] = [await begin(account), await begin(account)];
    expect(await statusesWith(current.token)).toEqual(everywhere(200));
    const service = accounts.services.service('accounts');
    expect((await call('DELETE', `/v1/sessions/${ended.id}`, current.token)).status).toBe(204);
    await service.kill('SIGKILL');
    const headers = { Authorization: `Bearer ${current.token}` };
    expect((await fetch(new URL('/v1/orders', orders.url), { headers })).status).toBe(200);
    await service.restart({ JWKS_URL: `${service.url}/.well-known/jwks.json` });
    await expectRefusedWithin2Seconds(ended, performance.now());
    expect(await statusesWith(current.token)).toEqual(everywhere(200));
  });
});

describe('a service that restarts', () => {
  it('a restarted service accepts no token of an ended session from its first response on', async () => {
    const account = await register(accounts);
    const [ended, current] = [await begin(account), await begin(account)];
    expect((await call('DELETE', `/v1/sessions/${ended.id}`, current.token)).status).toBe(204);
    await orders.kill();
    const statuses = new Set<number>();
    let restarting = true;
    const asking = (async () => {
      const headers = { Authorization: `Bearer ${ended.token}` };
      while (restarting) {
        await fetch(new URL('/v1/orders', orders.url), { headers }).then(
          ({ status }) => statuses.add(status),
          () => sleep(5),
        );
      }
    })();
    await orders.restart({ JWKS_URL: `${accounts.services.service('accounts').url}/.well-known/jwks.json` });
    await eventually(() => expect(statuses.size).toBeGreaterThan(0));
    restarting = false;
    await asking;
    expect([...statuses]).toEqual([401]);
    expect(await statusesWith(current.token)).toEqual(everywhere(200));
  });
});
