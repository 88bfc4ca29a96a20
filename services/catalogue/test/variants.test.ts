// Variants: the member `variant`, the variants that one product shows with their entity tag, and their filters.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer, TestClient } from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';
import { eventsAbout } from './outbox.ts';
import { staffToken } from './products.ts';

let inventory: Inventory;
let client: TestClient;
let token: string;
let count = 0;

beforeAll(async () => {
  inventory = await startInventory();
  ({ client } = inventory.services.service('catalogue'));
  token = await staffToken(inventory.services);
});
afterAll(() => inventory.stop());

const shirt = { name: 'Shirt', brand: 'Acme', category: 'clothes', price: 20, stock: 5 };
const create = (body: object, headers = {}) =>
  client.post('/v1/products', { token, body: { ...shirt, ...body }, headers });
const patch = (id: string, body: object, headers = {}) => client.patch(`/v1/products/${id}`, { token, body, headers });
function newGroup(): string {
  count += 1;
  return `T-${count}`;
}

/** Adds a product to a group. */
async function add(group: string, size: string, more: object = {}): Promise<string> {
  const { status, body, text } = await create({ variant: { group, options: { size } }, ...more });
  if (status !== 201) throw new Error(text);
  return body.id;
}

const shown = (id: string, headers = {}): Promise<TestAnswer> => client.get(`/v1/products/${id}`, { headers });
const shownToStaff = (id: string): Promise<TestAnswer> => client.get(`/v1/products/${id}`, { token });
const sizesOf = ({ body }: TestAnswer) =>
  (body.variants as { options: { size: string } }[]).map((each) => each.options.size);

describe('a product of a group', () => {
  it('a product of a group shows its group and options, and the visible products of the group, the oldest first', async () => {
    const group = newGroup();
    const first = await add(group, 'M');
    const second = await add(group, 'L', { price: 21.5, stock: 0 });
    await add(group, 'S', { status: 'pending' });
    await add(newGroup(), 'M');
    const { body } = await shown(second);
    expect(body).toMatchObject({ variant: { group, options: { size: 'L' } } });
    expect(body.variants).toEqual([
      { id: first, options: { size: 'M' }, price: 20, inStock: true },
      { id: second, options: { size: 'L' }, price: 21.5, inStock: false },
    ]);
    expect((await shown(first)).body.variants).toEqual(body.variants);
    expect((await shownToStaff(first)).body.variants).toEqual(body.variants);
  });

  it('a product of a group has no variants in lists and searches, and a product without a group has none at all', async () => {
    const id = await add(newGroup(), 'M');
    const { variants, ...one } = (await shown(id)).body;
    expect(variants).toHaveLength(1);
    expect((await client.get(`/v1/products?id=${id}`)).body.items).toEqual([one]);
    const body = { filters: { id: { eq: id } } };
    expect((await client.post('/v1/products/search', { body })).body.items).toEqual([one]);
    const single = await create({});
    expect((await shown(single.body.id)).body).not.toHaveProperty('variants');
    expect((await shown(single.body.id)).headers.etag).toBe('"1"');
  });

  it('a product of a group shows the oldest 100 of its products', async () => {
    const group = newGroup();
    const ids: string[] = [];
    for (let size = 1; size <= 101; size += 1) ids.push(await add(group, `${size}`));
    const { body } = await shown(ids[100] ?? '');
    expect((body.variants as { id: string }[]).map(({ id }) => id)).toEqual(ids.slice(0, 100));
  });

  it('a product of a group is described with its variant by its events and reservations', async () => {
    const group = newGroup();
    const id = await add(group, 'M');
    const [created] = await eventsAbout(inventory.services, id);
    expect(created?.data.variant).toEqual({ group, options: { size: 'M' } });
    const { body } = await inventory.reserve(newId(), { [id]: 1 });
    expect(body.lines).toEqual([expect.objectContaining({ productId: id, group })]);
  });
});

describe('PATCH', () => {
  it('PATCH merges the members of a variant, and null removes the product from its group', async () => {
    const [group, other] = [newGroup(), newGroup()];
    const id = await add(group, 'M');
    const variantAfter = async (variant: unknown) => (await patch(id, { variant })).body.variant;
    expect(await variantAfter({ options: { colour: 'red' } })).toEqual({
      group,
      options: { colour: 'red', size: 'M' },
    });
    expect(await variantAfter({ group: other, options: { size: null } })).toEqual({
      group: other,
      options: { colour: 'red' },
    });
    expect(await variantAfter({ lead: true })).toMatchObject({ lead: true });
    expect(await variantAfter({ lead: false })).not.toHaveProperty('lead');
    expect(await variantAfter(null)).toBeUndefined();
    const changes = (await client.get(`/v1/products/${id}/history`, { token })).body.items;
    expect(changes[0]?.changes).toEqual([{ member: 'variant', old: { group: other, options: { colour: 'red' } } }]);
  });

  it('PATCH refuses a variant that has no group, no option or too many options after the merge', async () => {
    const [id, none] = [await add(newGroup(), 'M'), (await create({})).body.id];
    const options = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'x']));
    for (const [product, variant, pointer] of [
      [none, { options: { size: 'M' } }, '/variant/group'],
      [none, { group: 'X' }, '/variant/options'],
      [id, { options: { size: null } }, '/variant/options'],
      [id, { options }, '/variant/options'],
    ] as const) {
      const answer = await patch(product, { variant });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    }
    expect((await shown(id)).headers.etag).toMatch(/^W\/"1\./);
  });
});

describe('400', () => {
  it.each([
    [{}, '/variant/group'],
    [{ group: 'T' }, '/variant/options'],
    [{ group: '', options: { size: 'M' } }, '/variant/group'],
    [{ group: ' ', options: { size: 'M' } }, '/variant/group'],
    [{ group: 'x'.repeat(101), options: { size: 'M' } }, '/variant/group'],
    [{ group: 'T', options: {} }, '/variant/options'],
    [{ group: 'T', options: { Size: 'M' } }, '/variant/options'],
    [{ group: 'T', options: { size: '' } }, '/variant/options/size'],
    [{ group: 'T', options: { size: 42 } }, '/variant/options/size'],
    [{ group: 'T', options: { a: 'x', b: 'x', c: 'x', d: 'x', e: 'x', f: 'x' } }, '/variant/options'],
    [{ group: 'T', options: { size: 'M' }, lead: 'yes' }, '/variant/lead'],
    [{ group: 'T', options: { size: 'M' }, other: 1 }, '/variant'],
    ['T', '/variant'],
  ])('POST /v1/products refuses the variant %j', async (variant, pointer) => {
    const answer = await create({ variant });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    expect(answer.body.errors[0]?.pointer).toContain(pointer);
  });

  it.each(['variant.group=ne:T', 'variant.group=gt:T', 'variant.options=M', 'lead=ne:true', 'lead=1', 'fields=lead'])(
    'GET /v1/products refuses %s',
    async (query) => {
      expect(await client.get(`/v1/products?${query}`)).toMatchObject({ status: 400 });
    },
  );
});

describe('409', () => {
  it('a product cannot get the group and options of another one, which the response names, also when it is archived', async () => {
    const group = newGroup();
    const [first, second] = [await add(group, 'M'), await add(group, 'L')];
    const refused = {
      status: 409,
      body: { code: 'variant-in-use', errors: [{ pointer: '/variant/options', productId: first }] },
    };
    const variant = { group, options: { size: 'M' }, lead: true };
    expect(await create({ variant })).toMatchObject(refused);
    expect(await patch(second, { variant, name: 'Other' })).toMatchObject(refused);
    await client.call('DELETE', `/v1/products/${first}`, { token });
    expect(await create({ variant })).toMatchObject(refused);
    expect((await shown(second)).body).toMatchObject({ name: 'Shirt', variant: { options: { size: 'L' } } });
    expect(await patch(first, { variant: null })).toMatchObject({ status: 200 });
    expect(await patch(second, { variant })).toMatchObject({ status: 200 });
  });

  it('a 409 for a variant is returned again with the same idempotency key', async () => {
    const group = newGroup();
    const first = await add(group, 'M');
    const key = { 'Idempotency-Key': 'variant' };
    const variant = { group, options: { size: 'M' } };
    for (let round = 0; round < 2; round += 1) {
      expect(await create({ variant }, key)).toMatchObject({ status: 409, body: { code: 'variant-in-use' } });
      await patch(first, { variant: null });
    }
  });

  it('one of several concurrent requests with the same group and options succeeds, and the others return 409', async () => {
    for (let round = 0; round < 10; round += 1) {
      const group = newGroup();
      const others = await Promise.all([add(group, 'S'), add(group, 'XL')]);
      const variant = { group, options: { size: 'M' } };
      const answers = await Promise.all([
        ...others.map((id) => patch(id, { variant })),
        ...Array.from({ length: 3 }, () => create({ variant })),
      ]);
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
    }
  });
});

describe('the entity tag of one product', () => {
  it('the entity tag of one product changes with what it shows of its group, and If-Match accepts it', async () => {
    const group = newGroup();
    const [id, other] = [await add(group, 'M'), await add(group, 'L', { stock: 1 })];
    let { etag = '' } = (await shown(id)).headers;
    const reservation = newId();
    const steps: readonly (readonly [boolean, () => Promise<TestAnswer>])[] = [
      [false, () => patch(other, { name: 'Renamed' })],
      [true, () => patch(other, { price: 30 })],
      [true, () => inventory.reserve(reservation, { [other]: 1 })],
      [true, () => inventory.release(reservation)],
      [true, () => client.call('DELETE', `/v1/products/${other}`, { token })],
      [true, () => patch(other, { archived: false })],
      [true, () => patch(other, { variant: { group: newGroup() } })],
      [true, () => create({ variant: { group, options: { size: 'S' } } })],
    ];
    for (const [changes, step] of steps) {
      expect((await shown(id, { 'If-None-Match': etag })).status).toBe(304);
      expect((await step()).status).toBeLessThan(300);
      const after = await shown(id, { 'If-None-Match': etag });
      expect(after.status).toBe(changes ? 200 : 304);
      etag = after.headers.etag ?? '';
    }
    expect(etag).toMatch(/^W\/"1\.[0-9]+\.[0-9]+"$/);
    const staffTag = (await shownToStaff(id)).headers.etag ?? '';
    expect(await patch(id, { price: 22 }, { 'If-Match': etag })).toMatchObject({ status: 200 });
    for (const stale of [etag, staffTag]) {
      expect(await patch(id, { price: 23 }, { 'If-Match': stale })).toMatchObject({ status: 412 });
    }
    const present = (await shownToStaff(id)).headers.etag ?? '';
    const headers = { 'If-Match': present };
    expect(await client.call('DELETE', `/v1/products/${id}`, { token, headers })).toMatchObject({ status: 204 });
  });

  it('the entity tag of one product for staff changes with the prices of its group', async () => {
    const group = newGroup();
    const [id, other] = [await add(group, 'M'), await add(group, 'L')];
    const before = (await shownToStaff(id)).headers.etag;
    await patch(other, { price: 30 });
    expect((await shownToStaff(id)).headers.etag).not.toBe(before);
  });
});

describe('a filter by group', () => {
  it('a filter by group finds the products of one group or of several ones', async () => {
    const groups = [newGroup(), `, "${newGroup()}"`];
    const [first = '', second = ''] = groups;
    const ids = [await add(first, 'M'), await add(first, 'L'), await add(second, 'M')];
    const quoted = groups.map((group) => JSON.stringify(group)).join();
    const found = async (query: string) =>
      (await client.get(`/v1/products?${query}&sort=createdAt:asc&fields=id`)).body.items.map(({ id }) => id);
    expect(await found(`variant.group=${first}`)).toEqual(ids.slice(0, 2));
    expect(await found(`variant.group=${encodeURIComponent(quoted)}`)).toEqual(ids);
    expect(await found(`variant.group=${first}&q=shirt`)).toHaveLength(2);
    const body = {
      filters: { or: [{ 'variant.group': { in: groups }, price: { lt: 21 } }, { price: { gt: 1_000_000 } }] },
    };
    expect((await client.post('/v1/products/search', { body })).body.items).toHaveLength(3);
    const facets = await client.get(`/v1/products?variant.group=${first}&facets=brand`);
    expect(facets.body.facets).toEqual({ brand: [{ value: 'Acme', count: 2 }] });
    expect(sizesOf(await shown(ids[0] ?? ''))).toEqual(['M', 'L']);
  });
});
