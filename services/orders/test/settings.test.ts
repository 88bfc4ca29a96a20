// /v1/shipping-methods, /v1/tax-rates and /v1/discounts: what is the same for each of them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Kind, kindNames, kinds, type SettingShop, startSettingShop } from './setting-shop.ts';

let shop: SettingShop;

beforeAll(async () => {
  shop = await startSettingShop();
});
afterAll(() => shop?.services.stop());

/** A change of a member of each kind. */
const changes = {
  'shipping-methods': { price: 8.9 },
  'tax-rates': { name: 'Value added tax' },
  discounts: { value: 15 },
} as const;
const initial = {
  'shipping-methods': { taxCategory: 'standard', position: 0 },
  'tax-rates': { category: 'standard' },
  discounts: { combinable: false },
} as const;

async function history(id: string) {
  const { rows } = await shop.services
    .service('orders')
    .database.query(
      'SELECT version, body, actor_id AS actor, request_id AS request FROM pricing_settings_history WHERE setting_id = $1 ORDER BY version',
      [id],
    );
  return rows;
}

async function count(kind: Kind): Promise<number> {
  const { rows } = await shop.services
    .service('orders')
    .database.query('SELECT count(*)::int AS n FROM pricing_settings WHERE kind = $1', [kind.slice(0, -1)]);
  return rows[0].n;
}

describe.each(kindNames)('/v1/%s', (kind) => {
  it('POST returns the setting with its initial values, its address and its version, and GET the same', async () => {
    const created = await shop.create(kind);
    expect(created).toMatchObject({
      status: 201,
      body: { ...kinds[kind], ...initial[kind], createdAt: created.body.updatedAt },
    });
    expect(created.headers.location).toBe(`/v1/${kind}/${created.body.id}`);
    const shown = await shop.get(kind, created.body.id);
    expect([shown.status, shown.text, shown.headers.etag]).toEqual([200, created.text, created.headers.etag]);
  });

  it('PATCH changes the members that it has, raises the version, and keeps the others', async () => {
    const created = await shop.create(kind);
    const changed = await shop.patch(kind, created.body.id, changes[kind]);
    expect(changed).toMatchObject({
      status: 200,
      body: { ...kinds[kind], ...changes[kind], createdAt: created.body.createdAt },
    });
    expect(changed.headers.etag).not.toBe(created.headers.etag);
    expect((await shop.get(kind, created.body.id)).text).toBe(changed.text);
  });

  it('PATCH with null restores the initial value of a member, and refuses to remove a required one', async () => {
    const [member = ''] = Object.keys(initial[kind]);
    const { body } = await shop.create(kind);
    expect((await shop.patch(kind, body.id, { [member]: null })).body).toMatchObject(initial[kind]);
    const refused = await shop.patch(kind, body.id, { name: null });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/name' }] } });
  });

  it('DELETE archives the setting: it is neither listed nor found nor changed, and a repeat has no further effect', async () => {
    const { body } = await shop.create(kind);
    expect((await shop.archive(kind, body.id)).status).toBe(204);
    expect((await shop.archive(kind, body.id, { 'If-Match': '"1"' })).status).toBe(204);
    expect((await shop.get(kind, body.id)).status).toBe(404);
    expect((await shop.patch(kind, body.id, changes[kind])).status).toBe(404);
    const { items } = (await shop.list(kind, '?limit=100')).body;
    expect(items.map(({ id }: { id: string }) => id)).not.toContain(body.id);
  });

  it('the history has every change with what the setting became, its author and its request', async () => {
    const { body } = await shop.create(kind, {}, { 'X-Request-Id': `create-${kind}` });
    await shop.patch(kind, body.id, changes[kind], { 'X-Request-Id': `change-${kind}` });
    await shop.archive(kind, body.id, { 'X-Request-Id': `archive-${kind}` });
    const by = { actor: shop.accountId };
    const entries = await history(body.id);
    expect(entries).toMatchObject([
      { body: kinds[kind], request: `create-${kind}`, ...by },
      { body: { ...kinds[kind], ...changes[kind] }, request: `change-${kind}`, ...by },
      { body: null, request: `archive-${kind}`, ...by },
    ]);
    const [first = 0, ...later] = entries.map(({ version }) => Number(version));
    expect(later).toEqual([first + 1, first + 2]);
  });

  it('each change publishes the setting with its version, and whether it is archived', async () => {
    const { body } = await shop.create(kind);
    await shop.patch(kind, body.id, changes[kind]);
    await shop.archive(kind, body.id);
    const { rows } = await shop.services
      .service('orders')
      .database.query('SELECT type, sequence, data FROM outbox WHERE subject = $1 ORDER BY id', [body.id]);
    const versions = (await history(body.id)).map(({ version }) => version);
    expect(versions).toHaveLength(3);
    const about = { settingId: body.id, kind: kind.slice(0, -1) };
    expect(rows).toEqual(
      versions.map((sequence, index) => ({
        type: 'setting.changed.v1',
        sequence,
        data: { ...about, archived: index === 2 },
      })),
    );
  });

  it('a refused change leaves the setting, the version of all settings and the history unchanged', async () => {
    const { body, headers } = await shop.create(kind);
    const version = async () =>
      (await shop.services.service('orders').database.query('SELECT version FROM pricing_settings_version')).rows;
    const before = await version();
    expect((await shop.patch(kind, body.id, { name: null })).status).toBe(400);
    expect((await shop.patch(kind, body.id, changes[kind], { 'If-Match': '"0"' })).status).toBe(412);
    expect((await shop.create(kind, { name: 5 })).status).toBe(400);
    expect((await shop.get(kind, body.id)).headers.etag).toBe(headers.etag);
    expect([await version(), await history(body.id)]).toEqual([before, [expect.anything()]]);
  });

  it('If-Match compares the version at PATCH and DELETE', async () => {
    const { body, headers } = await shop.create(kind);
    const condition = { 'If-Match': headers.etag ?? '' };
    const changed = await shop.patch(kind, body.id, changes[kind], condition);
    expect(changed.status).toBe(200);
    expect((await shop.patch(kind, body.id, changes[kind], condition)).status).toBe(412);
    expect((await shop.archive(kind, body.id, condition)).status).toBe(412);
    expect((await shop.archive(kind, body.id, { 'If-Match': changed.headers.etag ?? '' })).status).toBe(204);
  });

  it('GET answers 304 to the entity tag of the present version', async () => {
    const { body, headers } = await shop.create(kind);
    const path = `/v1/${kind}/${body.id}`;
    const ask = (tag = '') => shop.orders.get(path, { token: shop.token, headers: { 'If-None-Match': tag } });
    expect((await ask(headers.etag)).status).toBe(304);
    await shop.patch(kind, body.id, changes[kind]);
    expect((await ask(headers.etag)).status).toBe(200);
  });

  it('requests with one idempotency key add one setting, and a key is free after a fault', async () => {
    const [key, fault] = [{ 'Idempotency-Key': newId() }, { 'Idempotency-Key': newId() }];
    const sent = kind === 'tax-rates' ? { region: 'Uri' } : {};
    const before = await count(kind);
    const answers = await Promise.all(Array.from({ length: 5 }, () => shop.create(kind, sent, key)));
    const ids = new Set(answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : [])));
    expect([ids.size, await count(kind)]).toEqual([1, before + 1]);
    expect((await shop.create(kind, sent, key)).headers['idempotency-replayed']).toBe('true');
    expect((await shop.create(kind, { name: '' }, fault)).status).toBe(400);
    expect((await shop.create(kind, {}, fault)).status).toBe(201);
  });

  it('a list has each setting once, over all of its pages', async () => {
    for (let index = 0; index < 5; index += 1) await shop.create(kind);
    const listed: string[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const { status, body, headers } = await shop.list(kind, query);
      expect(status).toBe(200);
      listed.push(...body.items.map(({ id }: { id: string }) => id));
      const { nextCursor } = body.pagination;
      expect(headers.link === undefined).toBe(nextCursor === undefined);
      query = nextCursor === undefined ? '' : `?limit=2&cursor=${nextCursor}`;
    }
    const all = (await shop.list(kind, '?limit=100')).body.items.map(({ id }: { id: string }) => id);
    expect(listed).toEqual(all);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('a list refuses a cursor of another list, and parameters that it does not have', async () => {
    const other = kind === 'discounts' ? 'tax-rates' : 'discounts';
    for (let index = 0; index < 2; index += 1) await shop.create(other);
    const { pagination } = (await shop.list(other, '?limit=1')).body;
    const refused = await shop.list(kind, `?cursor=${pagination.nextCursor}`);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-cursor' } });
    expect(await shop.list(kind, '?colour=red')).toMatchObject({
      status: 400,
      body: { errors: [{ parameter: 'colour' }] },
    });
  });

  it('an unknown id, the id of another kind of setting, and a text that is no id are answered with 404', async () => {
    const other = kind === 'discounts' ? 'tax-rates' : 'discounts';
    const { body } = await shop.create(other);
    for (const id of [newId(), body.id, 'none']) {
      const answers = [
        await shop.get(kind, id),
        await shop.patch(kind, id, changes[kind]),
        await shop.archive(kind, id),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    expect((await shop.get(other, body.id)).status).toBe(200);
  });

  it('PATCH refuses a body that is no merge patch with 415', async () => {
    const { body } = await shop.create(kind);
    const answer = await shop.patch(kind, body.id, changes[kind], { 'Content-Type': 'application/json' });
    expect(answer).toMatchObject({ status: 415, headers: { 'accept-patch': 'application/merge-patch+json' } });
  });
});
