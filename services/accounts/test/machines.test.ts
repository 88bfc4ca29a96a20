// Machines: their secrets, and the access tokens that they obtain (RFC 6749 section 4.4).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { decodeJwt } from 'jose';
import {
  createMachine,
  listMachines,
  type MachineSecret,
  revokeMachine,
  rotateMachine,
} from '../src/operator/index.ts';
import {
  auditOf,
  freshEmail,
  logIn,
  password,
  pointersOf,
  register,
  startAccounts,
  type TestAccounts,
} from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts();
});

afterAll(() => accounts.services.stop());

const environment = () => ({ DATABASE_URL: accounts.services.database.urls.accounts });
const freshName = () => `machine-${newId()}`;
const create = (name = freshName()) => createMachine(environment(), name, ['payments:write', 'orders:read-all']);
const post = (body: unknown) => accounts.client.post('/v1/tokens', { body });
const obtain = (client_id: string, client_secret: string) =>
  post({ grant_type: 'client_credentials', client_id, client_secret });
const withSecret = ({ clientId, clientSecret }: MachineSecret) => obtain(clientId, clientSecret);

async function endedSessions(): Promise<readonly string[]> {
  const { rows } = await accounts.database.query<{ id: string }>('SELECT session_id AS id FROM ended_sessions');
  return rows.map(({ id }) => id);
}

describe('a token of a machine', () => {
  it('a token of a machine has its scopes and no account, and no refresh token comes with it', async () => {
    const machine = await create();
    const { status, headers, body } = await withSecret(machine);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 900 });
    const { iat = 0, exp = 0, ...claims } = decodeJwt(body.access_token);
    expect(claims).toEqual({
      iss: accounts.services.issuer.issuer,
      aud: accounts.services.issuer.audience,
      sub: machine.clientId,
      client_id: machine.clientId,
      scope: 'orders:read-all payments:write',
      sid: expect.any(String),
      jti: expect.any(String),
    });
    expect(exp - iat).toBe(900);
  });

  it('a token of a machine is rejected where an operation acts for the owner of an account', async () => {
    const token = await accounts.services.issuer.sign({ isMachine: true, scopes: ['accounts:support'] });
    for (const [method, path] of [
      ['GET', '/v1/accounts/me'],
      ['POST', '/v1/email-verifications/resend'],
      ['GET', '/v1/sessions'],
      ['DELETE', '/v1/sessions'],
    ] as const) {
      const { status, body, headers } = await accounts.client.call(method, path, { token });
      expect([status, body.code, body.detail]).toEqual([
        403,
        'forbidden',
        'This operation acts for the holder of an account, and a machine has none.',
      ]);
      expect(headers['www-authenticate']).toContain('insufficient_scope');
    }
  });

  it('a token of a machine permits the operations of its scopes', async () => {
    const accountId = newId();
    const token = await accounts.services.issuer.sign({ accountId, isMachine: true, scopes: ['accounts:support'] });
    const { id } = await register(accounts);
    const body = { reason: 'Fraud score' };
    expect((await accounts.client.post(`/v1/accounts/${id}/block`, { token, body })).status).toBe(204);
    const { body: audit } = await accounts.client.get(`/v1/accounts/${id}/audit?action=account-blocked`, { token });
    expect(audit.items[0]).toMatchObject({ by: 'staff', staff_id: accountId });
  });
});

describe('a client id', () => {
  it('a client id may be written in capitals, and the token has it in lower case', async () => {
    const machine = await create();
    const { status, body } = await obtain(machine.clientId.toUpperCase(), machine.clientSecret);
    expect(status).toBe(200);
    expect(decodeJwt(String(body.access_token)).sub).toBe(machine.clientId);
  });
});

describe('a wrong secret', () => {
  it('a wrong secret gets the same response as an unknown client id, and is recorded', async () => {
    const machine = await create();
    const attempts = [
      await obtain(machine.clientId, 'wrong'),
      await obtain(machine.clientId, (await create()).clientSecret),
      await obtain(newId(), machine.clientSecret),
      await obtain('payments-adapter', machine.clientSecret),
      await obtain("' OR ''='", "' OR ''='"),
    ];
    for (const { status, body, headers } of attempts) {
      expect([status, body.code, body.detail]).toEqual([
        401,
        'invalid-credentials',
        'The client id or the client secret is wrong.',
      ]);
      expect(headers['www-authenticate']).toMatch(/^Bearer /);
    }
    expect((await auditOf(accounts, machine.clientId)).map(({ action }) => action)).toEqual([
      'machine-created',
      'machine-refused',
      'machine-refused',
    ]);
  });

  it('a wrong secret neither the database nor the log contains the secret of a machine', async () => {
    const { clientId, clientSecret } = await create();
    await obtain(clientId, clientSecret);
    const { rows } = await accounts.database.query<{ row: string }>(
      `SELECT s::text AS row FROM machine_secrets AS s WHERE machine_id = $1
       UNION ALL SELECT a::text FROM audit_log AS a WHERE account_id = $1`,
      [clientId],
    );
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain(clientSecret);
    expect(accounts.services.service('accounts').output()).not.toContain(clientSecret);
  });
});

describe('400', () => {
  const [client_id, client_secret, grant_type] = [newId(), 'secret', 'client_credentials'];
  it.each([
    [{ grant_type }],
    [{ grant_type, client_id }],
    [{ grant_type, client_secret }],
    [{ grant_type: 'password', email: 'a@example.com', password }],
    [{ grant_type, client_id, client_secret, email: 'a@example.com' }],
    [{ grant_type, client_id, client_secret, scope: 'orders:fulfil' }],
    [{ client_id, client_secret }],
    [{ email: 'a@example.com', password, client_id }],
    [{ refresh_token: 'x', client_id, client_secret }],
    [{ grant_type, client_id: [client_id], client_secret }],
    [{ grant_type, client_id, client_secret: '' }],
    [{ grant_type, client_id, client_secret: 'x'.repeat(129) }],
  ])('POST /v1/tokens returns 400 for %j', async (body) => {
    const answer = await post(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-request']);
  });

  it('POST /v1/tokens names the members that a log-in lacks, as before', async () => {
    expect(pointersOf(await post({})).sort()).toEqual(['/email', '/password']);
    expect((await logIn(accounts, freshEmail())).status).toBe(401);
  });
});

describe('a rotation', () => {
  it('a rotation of a secret leaves the previous secret valid for 24 hours, and no earlier one', async () => {
    const first = await create();
    const second = await rotateMachine(environment(), first.name, false);
    expect([(await withSecret(first)).status, (await withSecret(second)).status]).toEqual([200, 200]);
    const [listed] = (await listMachines(environment())).filter(({ name }) => name === first.name);
    const overlap = Number(listed?.formerSecretUntil) - Date.now();
    expect(Math.round(overlap / 3_600_000)).toBe(24);
    const third = await rotateMachine(environment(), first.name, false);
    expect([
      (await withSecret(first)).status,
      (await withSecret(second)).status,
      (await withSecret(third)).status,
    ]).toEqual([401, 200, 200]);
    await accounts.database.query('UPDATE machine_secrets SET expires_at = now() WHERE expires_at IS NOT NULL');
    expect([(await withSecret(second)).status, (await withSecret(third)).status]).toEqual([401, 200]);
  });

  it('a rotation with --now revokes the previous secrets and their access tokens', async () => {
    const first = await create();
    const { sid } = decodeJwt((await withSecret(first)).body.access_token);
    const second = await rotateMachine(environment(), first.name, true);
    expect([(await withSecret(first)).status, (await withSecret(second)).status]).toEqual([401, 200]);
    expect(await endedSessions()).toContain(sid);
    expect(await endedSessions()).not.toContain(decodeJwt((await withSecret(second)).body.access_token).sid);
  });
});

describe('a revocation', () => {
  it('a revocation revokes every secret and access token of a machine, and frees the name', async () => {
    const first = await create();
    const second = await rotateMachine(environment(), first.name, false);
    const sids = [await withSecret(first), await withSecret(second)].map(
      ({ body }) => decodeJwt(body.access_token).sid,
    );
    expect(await revokeMachine(environment(), first.name)).toEqual({ clientId: first.clientId });
    for (const each of [first, second]) expect((await withSecret(each)).status).toBe(401);
    expect(await endedSessions()).toEqual(expect.arrayContaining(sids));
    await expect(revokeMachine(environment(), first.name)).rejects.toThrow('there is no machine');
    await expect(rotateMachine(environment(), first.name, false)).rejects.toThrow('there is no machine');
    const again = await create(first.name);
    expect((await withSecret(again)).status).toBe(200);
    await expect(create(first.name)).rejects.toThrow(`there is a machine ${first.name} already`);
    expect((await auditOf(accounts, first.clientId)).map(({ action }) => action)).toEqual([
      'machine-created',
      'machine-rotated',
      'machine-revoked',
    ]);
  });

  it('a revocation leaves no valid token of a log-in that races with it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const machine = await create();
      const [one, two] = await Promise.all([
        withSecret(machine),
        withSecret(machine),
        revokeMachine(environment(), machine.name),
      ]);
      const ended = await endedSessions();
      for (const { status, body } of [one, two]) {
        expect([200, 401]).toContain(status);
        if (status === 200) expect(ended).toContain(decodeJwt(body.access_token).sid);
      }
    }
  });
});
