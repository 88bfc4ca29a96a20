// The operations on webhooks, on a real process. Nothing is sent here, because accounts does not answer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import type { components } from '../../src/generated.ts';
import { findPersonalData } from '../../src/operator/index.ts';
import { encryption, type Owner, startWebhookShop, type WebhookShop } from './webhook-shop.ts';

let shop: WebhookShop;
let owner: Owner;
beforeAll(async () => {
  shop = await startWebhookShop();
  owner = await shop.owner();
});
afterAll(() => shop?.stop());

const secretPattern = /^whsec_[A-Za-z0-9+/]{43}=$/;

describe('a new webhook', () => {
  it('a new webhook is unverified, waits for a ping at the head of the feed, and shows its secret once', async () => {
    const { status, headers, body } = await shop.add(owner);
    expect(status).toBe(201);
    const { secret, ...webhook } = body;
    expect(secret).toMatch(secretPattern);
    const url = 'https://warehouse.example/shop';
    expect(webhook).toMatchObject({ url, types: ['order'], collapse: false, status: 'unverified' });
    expect(headers.location).toBe(`/v1/webhooks/${webhook.id}`);
    const read = await shop.call(owner, 'GET', `/v1/webhooks/${webhook.id}`);
    expect([read.body, read.headers.etag]).toEqual([webhook, headers.etag]);
    const listed = await shop.call(owner, 'GET', '/v1/webhooks');
    expect(listed.body.items).toContainEqual(webhook);
    const [row] = await shop.query(
      'SELECT is_ping_due, position = head AS at_head, secret FROM webhooks, feed WHERE id = $1',
      [webhook.id],
    );
    expect(row).toMatchObject({ is_ping_due: true, at_head: true });
    expect(encryption.decrypt(row?.secret ?? '', webhook.id)).toBe(secret);
  });

  it('a repeated request with an idempotency key gets the same webhook and secret, which the database has only encrypted', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const body = { url: 'https://warehouse.example/again', types: ['return'] };
    const [first, second] = [
      await shop.call(owner, 'POST', '/v1/webhooks', { headers, body }),
      await shop.call(owner, 'POST', '/v1/webhooks', { headers, body }),
    ];
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(first.body.secret).toMatch(secretPattern);
    const [kept] = await shop.query('SELECT body FROM idempotency_keys WHERE key = $1', [headers['Idempotency-Key']]);
    expect(kept?.body).toContain(first.body.id);
    expect(kept?.body).not.toContain(first.body.secret);
  });

  it('an account has at most 20 webhooks, also when it adds them at the same time', async () => {
    const many = await shop.owner();
    const answers = await Promise.all(Array.from({ length: 23 }, () => shop.add(many)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([409, 'webhook-limit']));
    const [first] = (await shop.call(many, 'GET', '/v1/webhooks')).body.items;
    expect((await shop.call(many, 'DELETE', `/v1/webhooks/${first?.id}`)).status).toBe(204);
    expect((await shop.add(many)).status).toBe(201);
  });

  it.each([
    ['http://warehouse.example/shop', 'must be an absolute https URL'],
    ['ftp://warehouse.example/shop', 'must be an absolute https URL of ASCII characters'],
    ['/shop', 'must be an absolute https URL of ASCII characters'],
    ['https://münchen.example/', 'must be an absolute https URL of ASCII characters'],
    ['https://ada:secret@warehouse.example/', 'must not contain a user or a password'],
    ['https://ada@warehouse.example/', 'must not contain a user or a password'],
    ['https://warehouse.example:8080/', 'must have the port 443 or 8443'],
    ['https://192.0.2.7/', 'must have a name in place of an address'],
    ['https://0x7f.1/', 'must have a name in place of an address'],
    ['https://2130706433/', 'must have a name in place of an address'],
    ['https://[::1]/', 'must have a name in place of an address'],
    ['https://[::ffff:127.0.0.1]:8443/', 'must have a name in place of an address'],
    ['https://shop.test/hook', 'must not be the address of the shop'],
    ['https://SHOP.test.:443/hook', 'must not be the address of the shop'],
  ])('the address %s is refused, because it %s', async (url, detail) => {
    const { status, body } = await shop.add(owner, { url });
    expect([status, body.errors]).toEqual([400, [{ pointer: '/url', detail }]]);
  });

  it('the faults of all members are reported together', async () => {
    const { status, body } = await shop.add(owner, { url: 'https://10.0.0.1/', types: ['customer'], secret: 'mine' });
    expect(status).toBe(400);
    expect(body.errors?.map(({ pointer }: { pointer?: string }) => pointer).sort()).toEqual([
      '/secret',
      '/types/0',
      '/url',
    ]);
  });

  it.each([null, 7, [], 'https://warehouse.example'])('the body %j is refused as no webhook', async (body) => {
    expect((await shop.call(owner, 'POST', '/v1/webhooks', { body })).status).toBe(400);
    const { id } = (await shop.add(await shop.owner())).body;
    expect((await shop.call(owner, 'PATCH', `/v1/webhooks/${id}`, { body })).status).toBe(400);
  });

  it('an address with characters that no address has is refused or stored, and never a failure of the shop', async () => {
    for (const part of ['\u0000', '\ud800', '\n', ' ', 'ü', '%zz', '#part']) {
      const { status } = await shop.add(await shop.owner(), { url: `https://warehouse.example/${part}` });
      expect([part, status < 500]).toEqual([part, true]);
    }
  });

  it('the port 8443 is permitted', async () => {
    expect((await shop.add(owner, { url: 'https://warehouse.example:8443/shop' })).status).toBe(201);
  });
});

it('a machine adds webhooks as an account does, and neither sees those of others', async () => {
  const machine = await shop.owner(['webhooks:write', 'orders:read-all'], true);
  const { id } = (await shop.add(machine)).body;
  expect(await shop.query('SELECT owner_id, is_machine, scopes FROM webhooks WHERE id = $1', [id])).toEqual([
    { owner_id: machine.accountId, is_machine: true, scopes: ['webhooks:write', 'orders:read-all'] },
  ]);
  expect((await shop.call(owner, 'GET', '/v1/webhooks')).body.items).not.toContainEqual(
    expect.objectContaining({ id }),
  );
  const requests = [
    ['GET', ''],
    ['PATCH', '', { body: { status: 'paused' } }],
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/rotate'],
    ['POST', '/replay', { body: { from: '2026-11-28T08:00:00Z' } }],
    ['GET', '/attempts'],
  ] as const;
  for (const [method, path, options] of requests) {
    const { status, body } = await shop.call(owner, method, `/v1/webhooks/${id}${path}`, options);
    expect([method, path, status, body.code]).toEqual([method, path, 404, 'not-found']);
  }
  expect((await shop.call(machine, 'GET', `/v1/webhooks/${id}`)).body.status).toBe('unverified');
});

it('a token without webhooks:write neither lists nor adds webhooks', async () => {
  const without = await shop.owner(['orders:read-all']);
  expect((await shop.call(without, 'GET', '/v1/webhooks')).status).toBe(403);
  expect((await shop.add(without)).status).toBe(403);
});

describe('a change of a webhook', () => {
  const change = (id: string, body: object, headers?: object) =>
    shop.call(owner, 'PATCH', `/v1/webhooks/${id}`, { body, ...(headers && { headers }) });
  let id: string;
  beforeAll(async () => {
    await shop.query('DELETE FROM webhooks WHERE owner_id = $1', [owner.accountId]);
    id = (await shop.add(owner)).body.id;
  });
  const verify = () => shop.query("UPDATE webhooks SET status = 'active', is_ping_due = false WHERE id = $1", [id]);
  const isPingDue = async () =>
    (await shop.query('SELECT is_ping_due AS due FROM webhooks WHERE id = $1', [id]))[0]?.due;

  it('a change with a stale If-Match is refused, and one with the present version gives the next one', async () => {
    const { headers } = await shop.call(owner, 'GET', `/v1/webhooks/${id}`);
    const changed = await change(id, { types: ['order', 'return'] }, { 'If-Match': headers.etag });
    expect([changed.status, changed.body.types]).toEqual([200, ['order', 'return']]);
    expect(changed.headers.etag).not.toBe(headers.etag);
    const stale = await change(id, { types: ['order'] }, { 'If-Match': headers.etag });
    expect([stale.status, stale.body.code]).toEqual([412, 'precondition-failed']);
    const same = { headers: { 'If-None-Match': changed.headers.etag ?? '' } };
    expect((await shop.call(owner, 'GET', `/v1/webhooks/${id}`, same)).status).toBe(304);
  });

  it('a paused webhook that continues has to answer a ping, and so has one with another address', async () => {
    await verify();
    expect((await change(id, { status: 'paused' })).body.status).toBe('paused');
    expect(await isPingDue()).toBe(false);
    expect((await change(id, { url: 'https://warehouse.example/next' })).body.status).toBe('paused');
    expect((await change(id, { status: 'active' })).body.status).toBe('unverified');
    expect(await isPingDue()).toBe(true);
    await verify();
    expect((await change(id, { status: 'active', collapse: true })).body).toMatchObject({
      status: 'active',
      collapse: true,
    });
    expect(await isPingDue()).toBe(false);
    expect((await change(id, { url: 'https://warehouse.example/next' })).body.status).toBe('active');
    expect((await change(id, { url: 'https://warehouse.example/last' })).body.status).toBe('unverified');
    expect(await isPingDue()).toBe(true);
  });

  it('the address of a change follows the rules of a new webhook', async () => {
    const { status, body } = await change(id, { url: 'https://127.0.0.1/' });
    expect([status, body.errors?.[0]?.pointer]).toEqual([400, '/url']);
  });

  it.each(['suspended', 'ended'])('its owner makes a webhook that is %s answer a ping again', async (status) => {
    await shop.query(
      "UPDATE webhooks SET status = $2, failures = 9, failing_since = now(), next_attempt_at = now() + interval '1 hour' WHERE id = $1",
      [id, status],
    );
    const { body } = await change(id, { status: 'active' });
    expect(body).not.toHaveProperty('failingSince');
    expect(body.status).toBe('unverified');
    const [row] = await shop.query('SELECT failures, next_attempt_at <= now() AS now FROM webhooks WHERE id = $1', [
      id,
    ]);
    expect(row).toEqual({ failures: 0, now: true });
  });

  it('a change stores the scopes of the token with which it was made', async () => {
    const token = await shop.services.issuer.sign({
      accountId: owner.accountId,
      scopes: ['webhooks:write', 'catalogue:write'],
    });
    await shop.call({ ...owner, token }, 'PATCH', `/v1/webhooks/${id}`, { body: { collapse: false } });
    const [row] = await shop.query('SELECT scopes FROM webhooks WHERE id = $1', [id]);
    expect(row?.scopes).toEqual(['webhooks:write', 'catalogue:write']);
  });

  it('a test makes a ping due soon', async () => {
    await verify();
    await shop.query("UPDATE webhooks SET next_attempt_at = now() + interval '1 hour' WHERE id = $1", [id]);
    const { status, body } = await shop.call(owner, 'POST', `/v1/webhooks/${id}/test`);
    expect([status, body.status]).toEqual([202, 'active']);
    expect(await isPingDue()).toBe(true);
    const [row] = await shop.query('SELECT next_attempt_at <= now() AS now FROM webhooks WHERE id = $1', [id]);
    expect(row).toEqual({ now: true });
  });

  it('a rotation gives a new secret once, and keeps the former one for 24 hours', async () => {
    const added = (await shop.add(owner)).body;
    const { status, body } = await shop.call(owner, 'POST', `/v1/webhooks/${added.id}/rotate`);
    expect(status).toBe(200);
    expect(body.secret).toMatch(secretPattern);
    expect(body.secret).not.toBe(added.secret);
    const [row] = await shop.query(
      `SELECT secret, previous_secret AS previous, round(extract(epoch FROM previous_until - now()) / 3600)::int AS hours
       FROM webhooks WHERE id = $1`,
      [added.id],
    );
    expect(row?.hours).toBe(24);
    expect([row?.secret, row?.previous].map((sealed) => encryption.decrypt(sealed ?? '', added.id))).toEqual([
      body.secret,
      added.secret,
    ]);
  });
});

it('the attempts of a webhook are the 50 newest, the newest first, and are deleted with it', async () => {
  const mine = await shop.owner();
  const { id } = (await shop.add(mine)).body;
  const ids = Array.from({ length: 60 }, () => newId()).sort();
  await shop.query(
    `INSERT INTO delivery_attempts (id, webhook_id, kind, message_id, started_at, duration_ms, status, error, answer)
     SELECT attempt, $2, 'change', attempt, now(), 12, 500, 'the endpoint answered 500', 'out of order' FROM unnest($1::uuid[]) AS attempt`,
    [ids, id],
  );
  const { status, body } = await shop.call(mine, 'GET', `/v1/webhooks/${id}/attempts`);
  expect(status).toBe(200);
  const items = body.items as unknown as components['schemas']['Attempts']['items'];
  expect(items.map(({ messageId }) => messageId)).toEqual(ids.slice(10).reverse());
  expect(items[0]).toMatchObject({
    kind: 'change',
    milliseconds: 12,
    status: 500,
    error: 'the endpoint answered 500',
    answer: 'out of order',
  });
  expect((await shop.call(mine, 'DELETE', `/v1/webhooks/${id}`, { headers: { 'If-Match': '"9"' } })).status).toBe(412);
  expect((await shop.call(mine, 'DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
  expect((await shop.call(mine, 'DELETE', `/v1/webhooks/${id}`)).status).toBe(404);
  expect(await shop.query('SELECT FROM delivery_attempts WHERE webhook_id = $1', [id])).toEqual([]);
});

it('the webhooks of an erased account are deleted, and those of others are not', async () => {
  const [erased, other] = [await shop.owner(), await shop.owner()];
  const body = { url: 'https://warehouse.example/shop', types: ['order'] };
  await shop.call(erased, 'POST', '/v1/webhooks', { headers: { 'Idempotency-Key': newId() }, body });
  await shop.add(other);
  const { accountId } = erased;
  const left = (id: string) => findPersonalData({ DATABASE_URL: shop.services.database.urls.changes }, id);
  expect(await left(accountId)).toEqual({ webhooks: 1, idempotency_keys: 1 });
  const data = { accountId, erasedAt: new Date().toISOString() };
  await shop.publisher.publish([{ type: 'account.erased.v1', subject: accountId, sequence: 1, data }]);
  await eventually(async () => {
    expect((await shop.call(erased, 'GET', '/v1/webhooks')).body.items).toEqual([]);
  });
  expect(await left(accountId)).toEqual({});
  expect((await shop.call(other, 'GET', '/v1/webhooks')).body.items).toHaveLength(1);
});

it('the public keys of the signatures are a JWK Set without private members', async () => {
  const { status, body } = await shop.services.service('changes').client.get('/.well-known/webhook-keys.json');
  expect(status).toBe(200);
  expect(body.keys).toHaveLength(1);
  expect(body.keys[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' });
  expect(body.keys[0]).not.toHaveProperty('d');
});
