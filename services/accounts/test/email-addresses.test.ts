// One mailbox has one account, however its address is written; accounts from before that are kept.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { unparsedEmailKey } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import { readAuditLog, sharedMailboxes, showAccount, verifyEmailAsOperator } from '../src/operator/index.ts';
import {
  countEmails,
  eventsOf,
  freshEmail,
  logIn,
  password,
  pointersOf,
  register,
  startAccounts,
  type TestAccounts,
  verify,
} from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
});
afterAll(() => accounts.services.stop());

const environment = () => ({ DATABASE_URL: accounts.services.database.urls.accounts });
const post = (email: string) => accounts.client.post('/v1/accounts', { body: { email, name: 'Kim', password } });
const local = () => freshEmail().split('@')[0] ?? '';
const find = async (query: string) => {
  const token = await accounts.services.issuer.sign({ accountId: newId(), scopes: ['accounts:support'] });
  return accounts.client.get(`/v1/accounts?${query}`, { token });
};

/** Inserts an account as processes of the last release do. */
async function insertFormer(email: string, more: { readonly email_verified?: boolean } = {}): Promise<string> {
  const id = newId();
  const donor = await register(accounts);
  await accounts.database.query(
    `INSERT INTO accounts (id, email, email_key, name, password_hash, email_verified, version)
     SELECT $1, $2, $3, 'Kim', password_hash, $4, 1 FROM accounts WHERE id = $5`,
    [id, email, unparsedEmailKey(email), more.email_verified ?? true, donor.id],
  );
  return id;
}
const mailboxKeyOf = async (id: string): Promise<string | null> =>
  (await accounts.database.query('SELECT mailbox_key FROM accounts WHERE id = $1', [id])).rows[0].mailbox_key;
const fill = async (...ids: string[]) => {
  await accounts.services.service('accounts').restart();
  await eventually(async () => {
    for (const id of ids) expect(await mailboxKeyOf(id)).toEqual(expect.any(String));
  });
};

const forms = [
  (name: string) => `${name}@bücher.example`,
  (name: string) => `${name}@xn--bcher-kva.example`,
  (name: string) => `  ${name.toUpperCase()}@BÜCHER.example `,
  (name: string) => `${name}@bu\u0308cher.example`,
  (name: string) => `${name}@b\ufe0fücher.example`,
];

describe('an address with an international domain', () => {
  it.each(forms.map((form, index) => [index, form] as const))(
    'an address with an international domain is the same in every notation: %i',
    async (_, form) => {
      const name = local();
      const { status, body } = await post(form(name));
      expect(status).toBe(201);
      expect(body.email).toBe(form(name).normalize('NFC').trim());
      for (const other of forms) {
        expect((await logIn(accounts, other(name))).status).toBe(200);
        expect((await post(other(name))).status).toBe(409);
        expect((await find(`email=${encodeURIComponent(other(name))}`)).body.items).toMatchObject([{ id: body.id }]);
        expect((await showAccount(environment(), other(name))).accountId).toBe(body.id);
        const entries = await readAuditLog(environment(), { account: other(name), limit: 1 });
        expect(entries).toMatchObject([{ accountId: body.id }]);
      }
      expect((await accounts.client.post('/v1/password-resets', { body: { email: forms[1]?.(name) } })).status).toBe(
        202,
      );
      expect(await countEmails(accounts, body.id, 'password-reset')).toBe(1);
      await verifyEmailAsOperator(environment(), forms[2]?.(name) ?? '');
      expect((await find(`email=${encodeURIComponent(form(name))}`)).body.items).toMatchObject([
        { email_verified: true },
      ]);
    },
  );

  it('an address with an international domain is rejected for a change when another account has it in another notation', async () => {
    const name = local();
    await post(`${name}@bücher.example`);
    const { path, token } = await register(accounts);
    const change = (email: string) =>
      accounts.client.patch(path, { token, body: { email, current_password: password } });
    expect((await change(`${name}@xn--bcher-kva.example`)).status).toBe(409);
    const { status, body } = await change(` ${name}@münchen.example `);
    expect([status, body.pending_email]).toEqual([200, `${name}@münchen.example`]);
  });

  it('an account can change the notation of its address with an international domain', async () => {
    const name = local();
    const [ascii, international] = [`${name}@xn--bcher-kva.example`, `${name}@bücher.example`];
    const { id, path, token } = await register(accounts, { email: ascii });
    await verify(accounts, id);
    const body = { email: international, current_password: password };
    expect((await accounts.client.patch(path, { token, body })).status).toBe(200);
    expect((await verify(accounts, id)).status).toBe(204);
    expect(await mailboxKeyOf(id)).toBe(ascii);
    expect((await logIn(accounts, ascii)).status).toBe(200);
    expect((await post(ascii)).status).toBe(409);
  });

  it('concurrent registrations with all notations of one address create one account', async () => {
    const name = local();
    const answers = await Promise.all(forms.map((form) => post(form(name))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('an address with a domain that only looks similar is another address', async () => {
    const name = local();
    expect((await post(`${name}@bücher.example`)).status).toBe(201);
    for (const domain of ['bucher.example', 'buecher.example', 'bücher-example.com']) {
      expect((await post(`${name}@${domain}`)).status).toBe(201);
    }
  });
});

describe('an address without surrounding blanks', () => {
  it('an address without surrounding blanks is shown and published when it was written with blanks', async () => {
    const email = freshEmail();
    const { body } = await post(`  ${email} `);
    expect(body.email).toBe(email);
    expect((await eventsOf(accounts, body.id))[0]?.data.email).toBe(email);
  });

  it('the API returns an address that a previous release stored with blanks without the blanks', async () => {
    const email = freshEmail();
    const id = await insertFormer(` ${email} `);
    const token = await accounts.services.issuer.sign({ accountId: id, loggedIn: true });
    const shown = await accounts.client.get('/v1/accounts/me', { token });
    expect(shown.body.email).toBe(email);
    const patched = await accounts.client.patch(`/v1/accounts/${id}`, { token, body: { email, name: 'Lee' } });
    expect([patched.status, patched.body.pending_email]).toEqual([200, undefined]);
  });
});

describe('400', () => {
  it.each([
    'k@123.45',
    'k@1.2.3.4',
    'k@１２３.４５',
    'k@example.123',
    `${'x'.repeat(65)}@example.com`,
    `${'ü'.repeat(33)}@example.com`,
    `k@${'x'.repeat(64)}.com`,
    `k@${'ü'.repeat(60)}.com`,
  ])('the accounts API returns 400 for the address %s for a registration, a change and a search', async (email) => {
    const { path, token } = await register(accounts);
    const expected = [{ pointer: '/email', detail: 'must be an e-mail address such as kim@example.com' }];
    const answers = [
      await post(email),
      await accounts.client.patch(path, { token, body: { email, current_password: password } }),
    ];
    for (const { status, body } of answers) expect([status, body.errors]).toEqual([400, expected]);
    expect((await find(`email=${encodeURIComponent(email)}`)).status).toBe(400);
    expect((await logIn(accounts, email)).status).toBe(401);
    expect((await accounts.client.post('/v1/password-resets', { body: { email } })).status).toBe(202);
  });

  it.each(['kim', 'kim@', '@example.com', 'kim@localhost', 'kim example.com', '%', "' OR 1=1", '*@example.com,'])(
    'the accounts API returns 400 for %j as the address of a search by staff, together with all other faults',
    async (email) => {
      const { status, body } = await find(`email=${encodeURIComponent(email)}&limit=0`);
      expect(status).toBe(400);
      expect(body.errors).toEqual(
        expect.arrayContaining([
          { parameter: 'email', detail: 'must be an e-mail address such as kim@example.com' },
          { parameter: 'limit', detail: expect.any(String) },
        ]),
      );
    },
  );

  it('the accounts API reports a rejected address together with all other faults', async () => {
    const answer = await accounts.client.post('/v1/accounts', { body: { email: 'k@123.45', name: '', password: 'x' } });
    expect(pointersOf(answer).sort()).toEqual(['/email', '/name', '/password']);
  });
});

describe('the event of an e-mail with a token', () => {
  it('the event of an e-mail with a token has the state of the address and the network of the client whose request caused it', async () => {
    const headers = { 'X-Forwarded-For': '2001:db8::7:1' };
    const { body } = await accounts.client.post('/v1/accounts', {
      body: { email: freshEmail(), name: 'Kim', password },
      headers,
    });
    const token = await accounts.services.issuer.sign({ accountId: body.id, loggedIn: true });
    await accounts.client.post('/v1/password-resets', { body: { email: body.email }, headers });
    await verify(accounts, body.id);
    await accounts.client.post('/v1/password-resets', { body: { email: body.email } });
    const change = { email: freshEmail(), current_password: password };
    await accounts.client.patch(`/v1/accounts/${body.id}`, { token, body: change, headers });
    const { rows } = await accounts.database.query<{ kind: string; state: string; network: string | null }>(
      `SELECT data ->> 'kind' AS kind, data ->> 'addressState' AS state, data ->> 'clientNetwork' AS network FROM outbox
       WHERE subject = $1 AND type = 'email-token.issued.v1' ORDER BY id`,
      [body.id],
    );
    expect(rows.map(({ kind, state, network }) => [kind, state, network])).toEqual([
      ['email-verification', 'registered', '2001:db8:0:0'],
      ['password-reset', 'registered', '2001:db8:0:0'],
      ['password-reset', 'verified', null],
      ['email-verification', 'requested', '2001:db8:0:0'],
      ['email-change-undo', 'verified', '2001:db8:0:0'],
    ]);
  });
});

describe('accounts of a former release', () => {
  it('two accounts of a previous release with one mailbox both stay and can log in, and no further account gets the mailbox', async () => {
    const name = local();
    const [unicode, ascii] = [`${name}@bücher.example`, `${name}@xn--bcher-kva.example`];
    const ids = [await insertFormer(unicode), await insertFormer(ascii)];
    const check = async () => {
      for (const email of [unicode, ascii]) expect((await logIn(accounts, email)).status).toBe(200);
      for (const form of forms) expect((await post(form(name))).status).toBe(409);
      expect((await showAccount(environment(), unicode)).accountId).toBe(ids[0]);
      expect((await showAccount(environment(), ascii)).accountId).toBe(ids[1]);
    };
    await check();
    await fill(...ids);
    await check();
    expect(accounts.services.service('accounts').output()).toContain('shares its mailbox');
    expect(await sharedMailboxes(environment())).toEqual([
      { mailbox: ascii, accounts: [ids[0], ids[1]].map((accountId) => expect.objectContaining({ accountId })) },
    ]);
    for (const id of ids) {
      const token = await accounts.services.issuer.sign({ accountId: id, loggedIn: true });
      const body = { name: 'Lee', password: `another river of ${id}`, current_password: password };
      expect((await accounts.client.patch(`/v1/accounts/${id}`, { token, body })).status).toBe(200);
    }
    // The holder finds the account by the password, whatever the browser makes of the address.
    for (const id of ids) {
      for (const email of [unicode, ascii]) {
        const { status } = await logIn(accounts, email, `another river of ${id}`);
        expect([email, status]).toEqual([email, 200]);
      }
    }
    await accounts.client.post('/v1/password-resets', { body: { email: ascii } });
    for (const id of ids) expect(await countEmails(accounts, id, 'password-reset')).toBe(1);
    expect((await find(`email=${encodeURIComponent(unicode)}`)).body.items).toHaveLength(2);
  });

  it('two accounts of a previous release with the same address can both verify it', async () => {
    const name = local();
    await post(`${name}@xn--bcher-kva.example`);
    const id = await insertFormer(`${name}@bücher.example`, { email_verified: false });
    await fill(id);
    const token = await accounts.services.issuer.sign({ accountId: id });
    expect((await accounts.client.post('/v1/email-verifications/resend', { token })).status).toBe(202);
    expect((await verify(accounts, id)).status).toBe(204);
  });

  it('an account of a previous release gets a new key when a process of that release changes its address', async () => {
    const { id, email } = await register(accounts);
    expect(await mailboxKeyOf(id)).toBe(email);
    const changed = `${local()}@bücher.example`;
    await accounts.database.query('UPDATE accounts SET email = $2, email_key = $2 WHERE id = $1', [id, changed]);
    expect(await mailboxKeyOf(id)).toBeNull();
    expect((await logIn(accounts, changed)).status).toBe(200);
    expect((await post(email)).status).toBe(201);
    await fill(id);
    expect((await logIn(accounts, changed.replace('bücher', 'xn--bcher-kva'))).status).toBe(200);
  });

  it('an account of a previous release with an address that is no longer accepted can still log in', async () => {
    const email = `${local()}@123.45`;
    const id = await insertFormer(email);
    expect((await logIn(accounts, email.toUpperCase())).status).toBe(200);
    await fill(id);
    expect((await logIn(accounts, email)).status).toBe(200);
    expect((await post(email)).status).toBe(400);
  });
});
