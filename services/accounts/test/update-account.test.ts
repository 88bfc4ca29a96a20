// PATCH /v1/accounts/{accountId}
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  address,
  auditOf,
  countEmails,
  emailTokenOf,
  eventsOf,
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
  verify,
  versionOf,
} from './accounts.ts';

let accounts: TestAccounts;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
});

afterAll(() => accounts.services.stop());

beforeEach(async () => {
  holder = await register(accounts, { phone_number: '+33 4 72 00', shipping_address: address });
});

const patch = (body: unknown, headers: Record<string, string> = {}, path = holder.path) =>
  accounts.client.patch(path, { token: holder.token, body, headers });
const read = () => accounts.client.get(holder.path, { token: holder.token });

describe('200', () => {
  it('PATCH /v1/accounts/{accountId} replaces the given members and keeps the others', async () => {
    const before = await read();
    const answer = await patch({ name: 'Kim Lee', phone_number: '555' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...before.body, name: 'Kim Lee', phone_number: '555' });
    expect(versionOf(answer)).toBe(2);
    const after = await read();
    expect(after.body).toEqual(answer.body);
    expect(versionOf(after)).toBe(2);
  });

  it('PATCH /v1/accounts accepts `me` instead of the id', async () => {
    expect((await patch({ name: 'Me' }, {}, '/v1/accounts/me')).body.name).toBe('Me');
    expect((await read()).body.name).toBe('Me');
  });

  it('PATCH /v1/accounts/{accountId} merges sub-fields of the address', async () => {
    const { body } = await patch({ shipping_address: { city: 'Paris', region: null } });
    const { region: _, ...rest } = address;
    expect(body.shipping_address).toEqual({ ...rest, city: 'Paris' });
  });

  it('PATCH /v1/accounts/{accountId} removes phone number and address with null', async () => {
    const { body } = await patch({ phone_number: null, shipping_address: null });
    expect(body).toEqual({ id: holder.id, email: holder.email, email_verified: false, name: 'Kim Park' });
    expect((await read()).body).toEqual(body);
  });

  it('PATCH /v1/accounts/{accountId} adds an address to an account without one', async () => {
    await patch({ shipping_address: null });
    expect((await patch({ shipping_address: { city: 'Nice', region: null } })).body.shipping_address).toEqual({
      city: 'Nice',
    });
  });

  it('PATCH /v1/accounts/{accountId} leaves an empty address after its last sub-field was removed, as RFC 7396 defines', async () => {
    const nothing = Object.fromEntries(Object.keys(address).map((name) => [name, null]));
    expect((await patch({ shipping_address: nothing })).body.shipping_address).toEqual({});
  });

  it.each([{}, { name: 'Kim Park' }, { shipping_address: {} }, { shipping_address: { city: 'Lyon' } }])(
    'PATCH /v1/accounts/{accountId} changes nothing for %j: neither version nor events',
    async (body) => {
      const answer = await patch(body);
      expect(answer.status).toBe(200);
      expect(versionOf(answer)).toBe(1);
      expect(await eventsOf(accounts, holder.id)).toHaveLength(1);
    },
  );

  it('PATCH /v1/accounts/{accountId} publishes each change with the version as its sequence', async () => {
    await patch({ name: 'Second' }, { 'X-Request-Id': 'second-version' });
    await patch({ phone_number: null });
    const [, second, third] = await eventsOf(accounts, holder.id);
    expect(second).toEqual({
      type: 'account.updated.v1',
      sequence: '2',
      request_id: 'second-version',
      data: {
        accountId: holder.id,
        email: holder.email,
        emailVerified: false,
        name: 'Second',
        phoneNumber: '+33 4 72 00',
        taxId: null,
      },
    });
    expect(third).toMatchObject({ type: 'account.updated.v1', sequence: '3', data: { phoneNumber: null } });
  });

  it('PATCH /v1/accounts/{accountId} keeps the present e-mail until the new one is verified, and then frees it', async () => {
    const email = freshEmail();
    const answer = await patch({ email: email.toUpperCase() });
    expect(answer.body).toMatchObject({ email: holder.email, pending_email: email.toUpperCase() });
    expect((await logIn(accounts, email)).status).toBe(401);
    expect((await logIn(accounts, holder.email)).status).toBe(200);
    expect((await verify(accounts, holder.id)).status).toBe(204);
    const { body } = await read();
    expect(body).toMatchObject({ email: email.toUpperCase(), email_verified: true });
    expect(body).not.toHaveProperty('pending_email');
    expect((await logIn(accounts, email)).status).toBe(200);
    expect((await logIn(accounts, holder.email)).status).toBe(401);
    const again = await accounts.client.post('/v1/accounts', { body: { email: holder.email, name: 'Next', password } });
    expect(again.status).toBe(201);
  });

  it('PATCH /v1/accounts/{accountId} replaces a new e-mail that is not verified with another one, whose token alone is valid', async () => {
    const [first, second] = [freshEmail(), freshEmail()];
    await patch({ email: first });
    const replaced = await emailTokenOf(accounts, holder.id, 'email-verification');
    expect((await patch({ email: second })).body.pending_email).toBe(second);
    const late = await accounts.client.post('/v1/email-verifications', { body: { token: replaced } });
    expect([late.status, late.body.code]).toEqual([400, 'invalid-token']);
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect((await read()).body.email).toBe(second);
  });

  it('PATCH /v1/accounts/{accountId} withdraws a new e-mail when the present one is sent, without any proof', async () => {
    await patch({ email: freshEmail() });
    const withdrawn = await emailTokenOf(accounts, holder.id, 'email-verification');
    const token = await accounts.services.issuer.sign({ accountId: holder.id });
    const answer = await accounts.client.patch(holder.path, { token, body: { email: holder.email } });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('pending_email');
    const late = await accounts.client.post('/v1/email-verifications', { body: { token: withdrawn } });
    expect(late.status).toBe(400);
  });

  it('PATCH /v1/accounts/{accountId} withdraws a new e-mail when the password is changed, because another client may have sent it', async () => {
    await patch({ email: freshEmail() });
    const withdrawn = await emailTokenOf(accounts, holder.id, 'email-verification');
    const answer = await patch({ password: 'a short and loud brook', current_password: password });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('pending_email');
    const late = await accounts.client.post('/v1/email-verifications', { body: { token: withdrawn } });
    expect([late.status, late.body.code]).toEqual([400, 'invalid-token']);
    expect((await read()).body.email).toBe(holder.email);
  });

  it('PATCH /v1/accounts/{accountId} keeps the new e-mail that is sent together with a new password', async () => {
    const email = freshEmail();
    await patch({ email });
    const change = { email, password: 'a short and loud brook', current_password: password };
    expect((await patch(change)).body.pending_email).toBe(email);
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect((await read()).body.email).toBe(email);
  });

  it('a change of the password voids the tokens of password resets', async () => {
    await accounts.client.post('/v1/password-resets', { body: { email: holder.email } });
    const token = await emailTokenOf(accounts, holder.id, 'password-reset');
    await patch({ password: 'a short and loud brook', current_password: password });
    const body = { token, password: 'the password of a thief' };
    const late = await accounts.client.post('/v1/password-resets/confirm', { body });
    expect([late.status, late.body.code]).toEqual([400, 'invalid-token']);
  });

  it('PATCH /v1/accounts/{accountId} changes nothing when the pending e-mail is sent again', async () => {
    const email = freshEmail();
    const first = await patch({ email });
    const second = await patch({ email });
    expect([second.status, second.headers.etag]).toEqual([200, first.headers.etag]);
    expect(await countEmails(accounts, holder.id, 'email-verification')).toBe(2);
  });

  it('PATCH /v1/accounts/{accountId} writes a changed e-mail into the audit log', async () => {
    const email = freshEmail();
    await patch({ email });
    await verify(accounts, holder.id);
    expect(await auditOf(accounts, holder.id)).toEqual([
      { action: 'email-change-requested', detail: { from: holder.email, to: email } },
      { action: 'email-changed', detail: { from: holder.email, to: email } },
    ]);
  });

  it('PATCH /v1/accounts/{accountId} accepts the present e-mail address in another spelling', async () => {
    expect((await patch({ email: holder.email.toUpperCase() })).status).toBe(200);
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect((await read()).body.email).toBe(holder.email.toUpperCase());
  });

  it('PATCH /v1/accounts/{accountId} sends an undo token to the present address if it is verified, and no e-mail otherwise', async () => {
    await patch({ email: freshEmail() });
    expect(await countEmails(accounts, holder.id, 'email-change-undo')).toBe(0);
    const verified = await register(accounts);
    await verify(accounts, verified.id);
    const { token, path } = verified;
    await accounts.client.patch(path, { token, body: { email: freshEmail(), current_password: password } });
    expect(await countEmails(accounts, verified.id, 'email-change-undo')).toBe(1);
  });

  it('PATCH /v1/accounts/{accountId} accepts the current password with any access token of the account owner', async () => {
    const token = await accounts.services.issuer.sign({ accountId: holder.id });
    const body = { password: 'a short and loud brook', current_password: password };
    expect((await accounts.client.patch(holder.path, { token, body })).status).toBe(200);
    expect((await logIn(accounts, holder.email, 'a short and loud brook')).status).toBe(200);
  });

  it('a change of the password revokes every refresh token of the account, and of no other account', async () => {
    const other = await register(accounts);
    const tokens = [await refreshTokenOf(accounts, holder), await refreshTokenOf(accounts, holder)];
    const kept = await refreshTokenOf(accounts, other);
    const answer = await patch({ password: 'a short and loud brook' });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('brook');
    for (const token of tokens) expect((await refresh(accounts, token)).status).toBe(401);
    expect((await refresh(accounts, kept)).status).toBe(200);
    expect((await logIn(accounts, holder.email)).status).toBe(401);
    expect((await logIn(accounts, holder.email, 'a short and loud brook')).status).toBe(200);
    const audit = await auditOf(accounts, holder.id);
    expect(audit).toContainEqual({ action: 'password-changed', detail: {} });
    expect(JSON.stringify(audit)).not.toContain('brook');
  });

  it('PATCH /v1/accounts/{accountId} keeps refresh tokens when something else changes', async () => {
    const token = await refreshTokenOf(accounts, holder);
    await patch({ name: 'Another', email: freshEmail() });
    expect((await refresh(accounts, token)).status).toBe(200);
  });

  it.each([
    ['its tag', (tag: string) => tag],
    ['its tag among others', (tag: string) => `"9", ${tag}`],
    ['its version alone, the tag of former releases', () => '"1"'],
    ['*', () => '*'],
  ])('PATCH /v1/accounts/{accountId} accepts If-Match with %s', async (_, tags) => {
    const { etag = '' } = (await read()).headers;
    expect((await patch({ name: 'Matched' }, { 'If-Match': tags(etag) })).status).toBe(200);
  });

  it('many concurrent changes of an account all take effect', async () => {
    const members = ['street_address', 'city', 'region', 'postal_code', 'country'];
    const answers = await Promise.all(
      members.map((member) => patch({ shipping_address: { [member]: `new ${member}` } })),
    );
    expect(answers.map(versionOf).sort()).toEqual([2, 3, 4, 5, 6]);
    expect((await read()).body.shipping_address).toEqual(
      Object.fromEntries(members.map((member) => [member, `new ${member}`])),
    );
  });
});

describe('400', () => {
  it.each([
    [{ email: null }, '/email'],
    [{ name: null }, '/name'],
    [{ password: null }, '/password'],
    [{ email: 'nobody' }, '/email'],
    [{ email: '' }, '/email'],
    [{ name: '' }, '/name'],
    [{ password: 'short' }, '/password'],
    [{ phone_number: '' }, '/phone_number'],
    [{ phone_number: 'abc' }, '/phone_number'],
    [{ shipping_address: 'Lyon' }, '/shipping_address'],
    [{ shipping_address: { city: '' } }, '/shipping_address/city'],
    [{ shipping_address: { city: { name: 'Lyon' } } }, '/shipping_address/city'],
    [{ shipping_address: { planet: null } }, '/shipping_address/planet'],
    [{ id: 'x' }, '/id'],
    [{ scopes: ['orders:read-all'] }, '/scopes'],
    [{ version: 1 }, '/version'],
    [{ emailKey: 'x' }, '/emailKey'],
    [{ password_hash: 'x' }, '/password_hash'],
    [{ current_password: '' }, '/current_password'],
    [{ email_verified: true }, '/email_verified'],
    [{ pending_email: null }, '/pending_email'],
    [[], ''],
    ['x', ''],
    [null, ''],
  ])('PATCH /v1/accounts/{accountId} returns 400 for %j and changes nothing', async (body, pointer) => {
    const before = await read();
    const answer = await patch(body);
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toContain(pointer);
    expect((await read()).text).toBe(before.text);
    expect(await eventsOf(accounts, holder.id)).toHaveLength(1);
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'PATCH /v1/accounts/{accountId} returns 400 for the member %s at any depth',
    async (name) => {
      for (const rawBody of [`{"${name}":{"x":1}}`, `{"shipping_address":{"${name}":"x"}}`]) {
        const answer = await accounts.client.patch(holder.path, { token: holder.token, rawBody });
        expect(answer.status).toBe(400);
      }
    },
  );

  it('PATCH /v1/accounts/{accountId} returns 400 for an If-Match that is not a list of tags', async () => {
    const answer = await patch({ name: 'x' }, { 'If-Match': '1' });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]?.header).toBe('If-Match');
  });
});

describe('401', () => {
  it('PATCH /v1/accounts/{accountId} returns 401 for a request without a token before it reads the body', async () => {
    const answer = await accounts.client.patch(holder.path, { body: { name: null } });
    expect(answer.status).toBe(401);
  });
});

describe('403', () => {
  it('PATCH /v1/accounts/{accountId} returns the same 403 for another account and for an unknown id, also with an invalid body', async () => {
    const other = await register(accounts);
    const instance = { 'X-Request-Id': 'the-same' };
    const foreign = await patch({ name: 'Mine now' }, instance, other.path);
    const absent = await patch({ name: 'Mine now' }, instance, '/v1/accounts/0198c0de-0000-7000-8000-000000000000');
    expect(foreign.status).toBe(403);
    expect(absent.text).toBe(foreign.text);
    expect((await accounts.client.get(other.path, { token: other.token })).body.name).toBe('Kim Park');
  });
});

describe('404', () => {
  it('PATCH /v1/accounts/{accountId} returns 404 for a token of an external provider without an account', async () => {
    const token = await accounts.services.issuer.sign();
    const answer = await accounts.client.patch('/v1/accounts/me', { token, body: { name: 'x' } });
    expect(answer.status).toBe(404);
  });
});

describe('409', () => {
  it('PATCH /v1/accounts/{accountId} returns 409 for the e-mail address of another account in any spelling, and changes nothing', async () => {
    const other = await register(accounts);
    const before = await read();
    const answer = await patch({ email: ` ${other.email.toUpperCase()}`, name: 'Thief' });
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe('email-already-registered');
    expect(pointersOf(answer)).toEqual(['/email']);
    expect((await read()).text).toBe(before.text);
    expect(versionOf(await read())).toBe(1);
    expect(await auditOf(accounts, holder.id)).toEqual([]);
  });

  it('the first of several accounts that verifies an e-mail address gets it', async () => {
    const others = await Promise.all([register(accounts), register(accounts), register(accounts)]);
    const email = freshEmail();
    const answers = await Promise.all(
      others.map(({ path, token }) => accounts.client.patch(path, { token, body: { email } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const verified = await Promise.all(others.map(({ id }) => verify(accounts, id)));
    expect(verified.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
  });

  it('PATCH /v1/accounts/{accountId} returns 409 for two accounts that swap their e-mail addresses concurrently', async () => {
    const other = await register(accounts);
    const answers = await Promise.all([
      patch({ email: other.email }),
      accounts.client.patch(other.path, { token: other.token, body: { email: holder.email } }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([409, 409]);
  });
});

describe('412', () => {
  it.each(['"2"', 'W/"1"', '"0", "11"'])(
    'PATCH /v1/accounts/{accountId} returns 412 for If-Match: %s and changes nothing',
    async (tags) => {
      const answer = await patch({ name: 'Stale' }, { 'If-Match': tags });
      expect(answer.status).toBe(412);
      expect(answer.body.code).toBe('precondition-failed');
      expect((await read()).body.name).toBe('Kim Park');
    },
  );

  it('PATCH /v1/accounts/{accountId} returns 412 for If-None-Match: * and changes nothing', async () => {
    expect((await patch({ name: 'Stale' }, { 'If-None-Match': '*' })).status).toBe(412);
    expect((await read()).body.name).toBe('Kim Park');
  });

  it('PATCH /v1/accounts/{accountId} returns 412 for the tag of another account of the same version', async () => {
    const other = await register(accounts);
    const { etag = '' } = (await accounts.client.get(other.path, { token: other.token })).headers;
    expect((await patch({ name: 'Stale' }, { 'If-Match': etag })).status).toBe(412);
  });

  it('PATCH /v1/accounts/{accountId} accepts one of two concurrent requests with the same version', async () => {
    const { etag = '' } = (await read()).headers;
    const answers = await Promise.all(['One', 'Two'].map((name) => patch({ name }, { 'If-Match': etag })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });
});

describe('415', () => {
  it.each(['application/json', 'text/plain', 'application/json-patch+json'])(
    'PATCH /v1/accounts/{accountId} returns 415 for %s',
    async (type) => {
      const answer = await patch({ name: 'x' }, { 'Content-Type': type });
      expect(answer.status).toBe(415);
      expect(answer.headers['accept-patch']).toBe('application/merge-patch+json');
    },
  );
});

describe('422', () => {
  it('PATCH /v1/accounts/{accountId} returns 422 for a common password and keeps the old one', async () => {
    const answer = await patch({ password: 'Iloveyou' });
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('password-too-common');
    expect((await logIn(accounts, holder.email)).status).toBe(200);
  });
});

describe('403 for a change of credentials', () => {
  const changes = [{ email: freshEmail() }, { password: 'a short and loud brook' }];
  const attempt = async (claims: object, body: object) => {
    const token = await accounts.services.issuer.sign({ accountId: holder.id, ...claims });
    const { status, body: answered } = await accounts.client.patch(holder.path, { token, body });
    return [status, answered.code];
  };

  it.each(changes)('a change of credentials needs a proof of identity for %j', async (change) => {
    expect(await attempt({}, change)).toEqual([403, 'reauthentication-required']);
    expect(versionOf(await read())).toBe(1);
  });

  it.each(changes)(
    'a change of credentials rejects a wrong current password for %j, and records it',
    async (change) => {
      const wrong = { ...change, current_password: 'not the river' };
      expect(await attempt({ loggedIn: true }, wrong)).toEqual([403, 'wrong-password']);
      expect(versionOf(await read())).toBe(1);
      expect(await auditOf(accounts, holder.id)).toContainEqual({ action: 'reauthentication-failed', detail: {} });
    },
  );

  it('a change of credentials accepts one of many concurrent changes with one current password', async () => {
    const attempts = [1, 2, 3, 4].map((n) => attempt({}, { password: `the new one ${n}`, current_password: password }));
    const statuses = (await Promise.all(attempts)).map(([status]) => status);
    expect(statuses.sort()).toEqual([200, 403, 403, 403]);
  });
});

describe('429', () => {
  it('PATCH /v1/accounts/{accountId} sends at most 5 verification e-mails an hour', async () => {
    for (let sent = 1; sent < 5; sent += 1) expect((await patch({ email: freshEmail() })).status).toBe(200);
    const refused = await patch({ email: freshEmail() });
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
    expect(await countEmails(accounts, holder.id, 'email-verification')).toBe(5);
  });
});
