// POST /v1/accounts
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import {
  address,
  countAccounts,
  eventsOf,
  freshEmail,
  password,
  pointersOf,
  startAccounts,
  type TestAccounts,
  versionOf,
} from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts();
});

afterAll(() => accounts.services.stop());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  accounts.client.post('/v1/accounts', { body, headers });
const valid = (more: object = {}) => ({ email: freshEmail(), name: 'Kim Park', password, ...more });

describe('201', () => {
  it('POST /v1/accounts returns the account without its password, with its URL and its version', async () => {
    const body = valid({ phone_number: '+33 (0)4-72.00', shipping_address: address });
    const answer = await post(body);
    expect(answer.status).toBe(201);
    const { password: _, ...shown } = body;
    expect(answer.body).toEqual({ id: answer.body.id, email_verified: false, ...shown });
    expect(answer.headers.location).toBe(`/v1/accounts/${answer.body.id}`);
    expect(versionOf(answer)).toBe(1);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const token = await accounts.services.issuer.sign({ accountId: answer.body.id });
    expect((await accounts.client.get(answer.headers.location ?? '', { token })).body).toEqual(answer.body);
  });

  it('POST /v1/accounts needs no more than e-mail, name and password', async () => {
    const { body } = await post(valid());
    expect(Object.keys(body).sort()).toEqual(['email', 'email_verified', 'id', 'name']);
  });

  it('POST /v1/accounts stores the password as argon2id with 19 MiB, 2 passes and 1 lane', async () => {
    const { body } = await post(valid());
    const { rows } = await accounts.database.query('SELECT password_hash FROM accounts WHERE id = $1', [body.id]);
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('POST /v1/accounts returns and publishes the e-mail as it was written, without surrounding blanks', async () => {
    const email = ` Mixed.Case-${process.pid}@Example.COM `;
    const { status, body } = await post(valid({ email }));
    expect(status).toBe(201);
    expect(body.email).toBe(email.trim());
    const [event] = await eventsOf(accounts, body.id);
    expect(event.data.email).toBe(email.trim());
  });

  it('POST /v1/accounts publishes the account once, in the same transaction', async () => {
    const { body, headers } = await post(valid({ name: 'Ada' }), { 'X-Request-Id': 'registration-of-ada' });
    expect(headers['x-request-id']).toBe('registration-of-ada');
    expect(await eventsOf(accounts, body.id)).toEqual([
      {
        type: 'account.registered.v1',
        sequence: '1',
        request_id: 'registration-of-ada',
        data: {
          accountId: body.id,
          email: body.email,
          emailVerified: false,
          name: 'Ada',
          phoneNumber: null,
          taxId: null,
        },
      },
    ]);
  });

  it('POST /v1/accounts delivers the event to the broker', async () => {
    const { body } = await post(valid());
    await eventually(async () => {
      const { rows } = await accounts.database.query('SELECT attempts FROM outbox WHERE subject = $1', [body.id]);
      expect(rows[0].attempts).toBeGreaterThan(0);
    });
  });

  it.each([
    ['name', 'x'],
    ['name', '𝒜'.repeat(200)],
    ['name', 'محمد 李雷 O’Brien-Žižek 👩‍👩‍👧'],
    ['phone_number', '123'],
    ['phone_number', '+1 (555) 010-9999.'],
    ['phone_number', '1'.repeat(32)],
    ['shipping_address', {}],
    ['shipping_address', { city: 'x'.repeat(200) }],
    ['password', 'eight ch'],
    ['password', '🗝'.repeat(128)],
  ])('POST /v1/accounts accepts the %s %j and returns it', async (member, value) => {
    const { status, body } = await post(valid({ [member]: value }));
    expect(status).toBe(201);
    if (member !== 'password') expect(body[member]).toEqual(value);
  });

  it.each([
    'o’hara@example.com'.replace('’', "'"),
    'a+b.c@sub.example.co',
    'δοκιμή@παράδειγμα.gr',
    `${'x'.repeat(64)}@${'y'.repeat(63)}.${'z'.repeat(63)}.example.com`,
  ])('POST /v1/accounts accepts the e-mail address %s', async (email) => {
    expect((await post(valid({ email }))).status).toBe(201);
  });

  it('POST /v1/accounts normalises text to NFC', async () => {
    const { body } = await post(valid({ name: 'Rene\u0301', shipping_address: { city: 'Cafe\u0301' } }));
    expect(body.name).toBe('Ren\u00e9');
    expect(body.shipping_address).toMatchObject({ city: 'Caf\u00e9' });
  });

  it('a password is accepted in any Unicode normalization form at log-in', async () => {
    const { body } = await post(valid({ password: 're\u0301sume\u0301 perdu' }));
    const logIn = await accounts.client.post('/v1/tokens', {
      body: { email: body.email, password: 'r\u00e9sum\u00e9 perdu' },
    });
    expect(logIn.status).toBe(200);
  });

  it('requests with one idempotency key have one effect', async () => {
    const body = valid();
    const key = { 'Idempotency-Key': 'register once' };
    const first = await post(body, key);
    const again = await post(body, key);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers.etag).toBe(first.headers.etag);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await eventsOf(accounts, first.body.id)).toHaveLength(1);
  });

  it('a retry of a registration stores no data of the password', async () => {
    await post(valid({ password: 'the secret of the lake' }), { 'Idempotency-Key': 'a secret' });
    const { rows } = await accounts.database.query('SELECT idempotency_keys::text AS row FROM idempotency_keys');
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain('secret of the lake');
  });
});

describe('400', () => {
  it.each([
    [{ email: undefined }, '/email'],
    [{ email: null }, '/email'],
    [{ email: 5 }, '/email'],
    [{ email: '' }, '/email'],
    [{ email: 'nobody' }, '/email'],
    [{ email: 'a@b' }, '/email'],
    [{ email: 'a b@example.com' }, '/email'],
    [{ email: 'a@example..com' }, '/email'],
    [{ email: 'a@-example.com' }, '/email'],
    [{ email: 'a@b@example.com' }, '/email'],
    [{ email: 'a@example.com\r\nBcc: b@example.com' }, '/email'],
    [{ email: '\na@example.com' }, '/email'],
    [{ email: 'a@example.com, b@example.com' }, '/email'],
    [{ email: '"Kim" <kim@example.com>' }, '/email'],
    [{ email: `${'x'.repeat(243)}@example.com` }, '/email'],
    [{ name: undefined }, '/name'],
    [{ name: '' }, '/name'],
    [{ name: '   ' }, '/name'],
    [{ name: 'x'.repeat(201) }, '/name'],
    [{ name: 'Kim\r\nBcc: all@example.com' }, '/name'],
    [{ name: ['Kim'] }, '/name'],
    [{ password: undefined }, '/password'],
    [{ password: 'sevench' }, '/password'],
    [{ password: '🗝'.repeat(7) }, '/password'],
    [{ password: 'x'.repeat(129) }, '/password'],
    [{ password: 12345678 }, '/password'],
    [{ phone_number: '12' }, '/phone_number'],
    [{ phone_number: '1'.repeat(33) }, '/phone_number'],
    [{ phone_number: '555 CALL ME' }, '/phone_number'],
    [{ phone_number: '١٢٣٤' }, '/phone_number'],
    [{ phone_number: null }, '/phone_number'],
    [{ phone_number: 5550109 }, '/phone_number'],
    [{ shipping_address: 'Lyon' }, '/shipping_address'],
    [{ shipping_address: [] }, '/shipping_address'],
    [{ shipping_address: null }, '/shipping_address'],
    [{ shipping_address: { city: '' } }, '/shipping_address/city'],
    [{ shipping_address: { city: null } }, '/shipping_address/city'],
    [{ shipping_address: { city: 'x'.repeat(201) } }, '/shipping_address/city'],
    [{ shipping_address: { planet: 'Mars' } }, '/shipping_address/planet'],
    [{ id: '0198c0de-0000-7000-8000-000000000000' }, '/id'],
    [{ scopes: ['orders:read-all'] }, '/scopes'],
    [{ scope: 'orders:read-all' }, '/scope'],
    [{ version: 9 }, '/version'],
    [{ passwordHash: 'x' }, '/passwordHash'],
    [{ accountId: '0198c0de-0000-7000-8000-000000000000' }, '/accountId'],
    [{ name: 'a\0b' }, '/name'],
    [{ name: 'a\ud800b' }, '/name'],
  ])('POST /v1/accounts returns 400 for %j', async (more, pointer) => {
    const before = await countAccounts(accounts);
    const answer = await post(valid(more));
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid-request');
    expect(pointersOf(answer)).toContain(pointer);
    expect(await countAccounts(accounts)).toBe(before);
  });

  it.each([
    '{"__proto__":{"scopes":["orders:read-all"]}}',
    '{"constructor":1}',
    '{"shipping_address":{"prototype":1}}',
  ])('POST /v1/accounts returns 400 for an unknown member in %s', async (rawBody) => {
    const answer = await accounts.client.post('/v1/accounts', {
      rawBody,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(answer.status).toBe(400);
  });

  it('POST /v1/accounts reports all faults together', async () => {
    const answer = await post({
      email: 'no',
      name: '',
      password: 'short',
      phone_number: 'x',
      nick: 1,
      shipping_address: { a: 1 },
    });
    expect(pointersOf(answer)).toEqual(
      expect.arrayContaining(['/email', '/name', '/password', '/phone_number', '/nick', '/shipping_address/a']),
    );
  });

  it('POST /v1/accounts reports faults of the text of the body together with all others', async () => {
    const rawBody = '{"email":"no","name":"a\\u0000b","name":"x","phone_number":1.0000000000000000001}';
    const answer = await accounts.client.post('/v1/accounts', {
      rawBody,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': '' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual(
      expect.arrayContaining([
        { header: 'Idempotency-Key', detail: expect.any(String) },
        { pointer: '/name', detail: 'must be given once' },
        { pointer: '/phone_number', detail: 'must be a number of at most 15 digits' },
        { pointer: '/email', detail: 'must be an e-mail address such as kim@example.com' },
        { pointer: '/password', detail: 'is required' },
      ]),
    );
    const { body } = await post({ email: 'no', name: 'a\0b' });
    expect(pointersOf({ body } as typeof answer).sort()).toEqual(['/email', '/name', '/password']);
  });

  it('POST /v1/accounts describes the fault of an e-mail address in words', async () => {
    const { body } = await post(valid({ email: 'kim at example.com' }));
    expect(body.errors).toEqual([{ pointer: '/email', detail: 'must be an e-mail address such as kim@example.com' }]);
  });

  it.each(['', '{', 'null', '[]', '"x"', '1e400', '{"email":"a@example.com",}', '\ufeff{}'])(
    'POST /v1/accounts returns 400 for the body %j',
    async (rawBody) => {
      const answer = await accounts.client.post('/v1/accounts', {
        rawBody,
        headers: { 'Content-Type': 'application/json' },
      });
      expect(answer.status).toBe(400);
    },
  );

  it.each([' ', 'é', 'x'.repeat(256)])('POST /v1/accounts returns 400 for the idempotency key %j', async (key) => {
    const sent = Buffer.from(key, 'utf8').toString('latin1');
    const answer = await post(valid(), { 'Idempotency-Key': sent });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]?.header).toBe('Idempotency-Key');
  });

  it('POST /v1/accounts accepts an e-mail address that takes a backtracking pattern exponential time', async () => {
    const answer = await post(valid({ email: `${'a.'.repeat(8_000)}@${'a-'.repeat(1_900)}` }));
    expect(answer.status).toBe(400);
  });
});

describe('409', () => {
  it.each([
    ['itself', (email: string) => email],
    ['in other case', (email: string) => email.toUpperCase()],
    ['with blanks around', (email: string) => `  ${email} `],
    ['in another Unicode form', (email: string) => email.normalize('NFD')],
  ])('POST /v1/accounts returns 409 for a registered e-mail %s', async (_, change) => {
    const email = `é-${freshEmail()}`;
    expect((await post(valid({ email }))).status).toBe(201);
    const answer = await post(valid({ email: change(email) }));
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe('email-already-registered');
    expect(pointersOf(answer)).toEqual(['/email']);
  });

  it('POST /v1/accounts accepts one of many concurrent requests', async () => {
    const email = freshEmail();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(valid({ email }))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    const { rows } = await accounts.database.query('SELECT id FROM accounts WHERE email_key = $1', [email]);
    expect(rows).toHaveLength(1);
    expect(await eventsOf(accounts, rows[0].id)).toHaveLength(1);
  });

  it('POST /v1/accounts stores the error response under an idempotency key', async () => {
    const { body: taken } = await post(valid());
    const body = valid({ email: taken.email });
    const key = { 'Idempotency-Key': 'refused once' };
    expect((await post(body, key)).status).toBe(409);
    const again = await post(body, key);
    expect(again.status).toBe(409);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });
});

describe('415', () => {
  it.each(['text/plain', 'application/merge-patch+json', 'application/x-www-form-urlencoded'])(
    'POST /v1/accounts returns 415 for %s',
    async (type) => {
      const answer = await post(valid(), { 'Content-Type': type });
      expect(answer.status).toBe(415);
      expect(answer.headers['accept-post']).toBe('application/json');
    },
  );
});

describe('422', () => {
  it.each(['password', 'Password', 'PASSWORD1', '12345678', 'iloveyou', 'qwertyuiop', 'trustno1'])(
    'POST /v1/accounts returns 422 for the common password %s',
    async (common) => {
      const answer = await post(valid({ password: common }));
      expect(answer.status).toBe(422);
      expect(answer.body.code).toBe('password-too-common');
      expect(pointersOf(answer)).toEqual(['/password']);
    },
  );

  it('POST /v1/accounts returns 422 for an idempotency key of another request', async () => {
    const key = { 'Idempotency-Key': 'of another' };
    expect((await post(valid(), key)).status).toBe(201);
    const answer = await post(valid(), key);
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('idempotency-key-reused');
  });
});
