// The product that leads a group of variants: exactly one, whatever happens at the same time.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer, type TestClient } from '@shop/shared/testing';
import { type Inventory, lockedMeanwhile, startInventory } from './inventory.ts';
import { staffToken } from './products.ts';

let inventory: Inventory;
let client: TestClient;
let token: string;
let count = 0;

beforeAll(async () => {
  inventory = await startInventory({ environment: { PAGE_CACHE_MB: '8' } });
  ({ client } = inventory.services.service('catalogue'));
  token = await staffToken(inventory.services);
});
afterAll(() => inventory.stop());

const patch = (id: string, body: object) => client.patch(`/v1/products/${id}`, { token, body });
const archive = (id: string) => client.call('DELETE', `/v1/products/${id}`, { token });
function newGroup(): string {
  count += 1;
  return `L-${count}`;
}

async function create(group: string | undefined, more: object = {}): Promise<TestAnswer> {
  const variant = group === undefined ? {} : { variant: { group, options: { size: newId() } } };
  return client.post('/v1/products', {
    token,
    body: { name: 'Shirt', brand: 'Acme', category: 'clothes', price: 20, stock: 100, ...variant, ...more },
  });
}
const add = async (group: string, more: object = {}): Promise<string> => (await create(group, more)).body.id;

/** The products of the group that a list of leads has, for customers or for staff. */
async function leads(group: string, options = {}): Promise<string[]> {
  const { body } = await client.get(`/v1/products?variant.group=${group}&lead=true`, options);
  return body.items.map(({ id }) => id);
}
const lead = (id: string, is: boolean) => patch(id, { variant: { lead: is } });

describe('the lead of a group', () => {
  it('the lead of a group is the oldest product that customers see', async () => {
    const group = newGroup();
    const [hidden, first, second] = [await add(group, { status: 'pending' }), await add(group), await add(group)];
    expect(await leads(group)).toEqual([first]);
    expect(await leads(group, { token })).toEqual([first]);
    await patch(hidden, { status: 'available' });
    expect(await leads(group)).toEqual([hidden]);
    await archive(hidden);
    expect(await leads(group)).toEqual([first]);
    await archive(first);
    expect(await leads(group)).toEqual([second]);
    await archive(second);
    expect(await leads(group)).toEqual([]);
    await patch(first, { archived: false });
    expect(await leads(group)).toEqual([first]);
    await patch(hidden, { archived: false });
    expect(await leads(group)).toEqual([hidden]);
  });

  it('the lead of a group is the product that staff marks while customers see it, and of several ones the oldest', async () => {
    const group = newGroup();
    const [first, second, third] = [await add(group), await add(group), await add(group)];
    await lead(third, true);
    expect(await leads(group)).toEqual([third]);
    await lead(second, true);
    expect(await leads(group)).toEqual([second]);
    await patch(second, { status: 'pending' });
    expect(await leads(group)).toEqual([third]);
    await lead(third, false);
    expect(await leads(group)).toEqual([first]);
  });

  it('the lead of a group is chosen again when a product gets another group or none', async () => {
    const [group, other] = [newGroup(), newGroup()];
    const [first, second, third] = [await add(group), await add(group), await add(other)];
    await patch(first, { variant: { group: other } });
    expect(await leads(group)).toEqual([second]);
    expect(await leads(other)).toEqual([first]);
    await patch(first, { variant: null });
    expect(await leads(other)).toEqual([third]);
    const { body } = await client.get(`/v1/products?id=${[first, second, third].join()}&lead=true&sort=createdAt:asc`);
    expect(body.items.map(({ id }) => id)).toEqual([first, second, third]);
    expect((await client.get(`/v1/products?id=${first}&lead=false`)).body.items).toEqual([]);
  });

  it('the lead of a group is chosen when a process of the previous release archives it', async () => {
    const group = newGroup();
    const [first, second] = [await add(group), await add(group)];
    const text = "UPDATE products SET archived_status = status, status = 'pending' WHERE id = $1";
    await inventory.services.service('catalogue').database.query(text, [first]);
    expect(await leads(group)).toEqual([second]);
  });

  it('the lead of a group changes neither the version nor the time of change of its products', async () => {
    const group = newGroup();
    const [first, second] = [await add(group), await add(group)];
    const before = (await client.get(`/v1/products?id=${second}`)).body;
    await archive(first);
    expect((await client.get(`/v1/products?id=${second}`)).body).toEqual(before);
  });

  it('a list of leads for staff has one product of a group that customers do not see', async () => {
    const group = newGroup();
    const [archived, draft] = [await add(group, { status: 'pending' }), await add(group, { status: 'pending' })];
    await archive(archived);
    expect(await leads(group, { token })).toEqual([draft]);
    expect(await leads(group)).toEqual([]);
  });
});

describe('lists of leads', () => {
  it('a list of leads has one product of each group and every product without a group, also in searches and facets', async () => {
    const category = newId();
    const [group, other] = [newGroup(), newGroup()];
    const single = (await create(undefined, { category })).body.id;
    const ids = [await add(group, { category }), single, await add(other, { category })];
    await add(group, { category });
    await add(other, { category });
    const path = `/v1/products?category=${category}&lead=true`;
    const found = (answer: TestAnswer) => answer.body.items.map(({ id }) => id).sort();
    expect(found(await client.get(path))).toEqual([...ids].sort());
    expect(found(await client.get(`${path}&q=shirt`))).toEqual([...ids].sort());
    const body = { filters: { category: { eq: category }, lead: { eq: true } }, facets: ['category'] };
    const searched = await client.post('/v1/products/search', { body });
    expect(found(searched)).toEqual([...ids].sort());
    expect(searched.body.facets).toEqual({ category: [{ value: category, count: 3 }] });
  });

  it('a list of leads in memory shows the new lead', async () => {
    const category = newId();
    const group = newGroup();
    const [first, second] = [await add(group, { category }), await add(group, { category })];
    const list = async () => {
      const { body } = await client.get(`/v1/products?category=${category}&lead=true&fields=id`);
      return body.items.map(({ id }) => id);
    };
    const { output } = inventory.services.service('catalogue');
    await eventually(() => expect(output()).toContain('pages of products are kept in memory'));
    for (let round = 0; round < 5; round += 1) {
      await lead(second, true);
      await eventually(async () => expect(await list()).toEqual([second]));
      await lead(second, false);
      await eventually(async () => expect(await list()).toEqual([first]));
    }
  });
});

describe('concurrent changes', () => {
  /** Groups with a visible product that have no lead or several ones, or a hidden lead. */
  async function wrongGroups(): Promise<object[]> {
    const { rows } = await inventory.services.service('catalogue').database.query(
      `SELECT variant_group, count(*) FILTER (WHERE is_lead) AS leads FROM products WHERE variant_group IS NOT NULL
       GROUP BY variant_group
       HAVING count(*) FILTER (WHERE is_lead) <> 1
         OR bool_or(status <> 'pending') AND count(*) FILTER (WHERE is_lead AND status <> 'pending') <> 1`,
    );
    return rows;
  }

  it('twenty products of a group that are archived at the same time leave one lead, and at last none', async () => {
    for (let round = 0; round < 5; round += 1) {
      const group = newGroup();
      const ids = await Promise.all(Array.from({ length: 21 }, () => add(group)));
      const kept = ids[round * 4] ?? '';
      const answers = await Promise.all(ids.filter((id) => id !== kept).map(archive));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      expect(await leads(group)).toEqual([kept]);
      await archive(kept);
      expect(await leads(group)).toEqual([]);
    }
    expect(await wrongGroups()).toEqual([]);
  });

  it('the first products of a group that are created at the same time leave one lead, and have each option once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const group = newGroup();
      const same = { variant: { group, options: { size: 'M' } } };
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => create(group, index < 5 ? same : {})));
      const statuses = answers.map((answer) => answer.status).sort();
      expect(statuses).toEqual([...Array<number>(6).fill(201), ...Array<number>(4).fill(409)]);
      expect(await leads(group)).toHaveLength(1);
    }
    expect(await wrongGroups()).toEqual([]);
  });

  it('products of two groups that are created, archived, marked and regrouped at the same time leave one lead each', async () => {
    const groups = [newGroup(), newGroup()] as const;
    const ids = (await Promise.all(groups.flatMap((group) => Array.from({ length: 8 }, () => add(group))))).sort();
    const orders = Array.from({ length: 8 }, () => Object.fromEntries(ids.map((id) => [id, 1])));
    for (let round = 0; round < 4; round += 1) {
      const changes = ids.flatMap((id, index): Promise<TestAnswer>[] => {
        const group = groups[(index + round) % 2] ?? '';
        const kind = (index + round) % 4;
        if (kind === 0) return [archive(id)];
        if (kind === 1) return [patch(id, { archived: false })];
        if (kind === 2) return [patch(id, { variant: { group } })];
        return [lead(id, round % 2 === 0), create(group)];
      });
      const reserved = orders.map((items) => inventory.reserve(newId(), items));
      const statuses = (await Promise.all([...changes, ...reserved])).map((answer) => answer.status);
      expect(statuses.filter((status: number) => status >= 500)).toEqual([]);
      expect(await wrongGroups()).toEqual([]);
    }
  });

  it('a change of a group locks its products in the order of their ids, as reservations do', async () => {
    const group = newGroup();
    const ids: string[] = [];
    for (let each = 0; each < 5; each += 1) ids.push(await add(group));
    expect(await lockedMeanwhile(inventory, ids, () => archive(ids[4] ?? ''))).toEqual([]);
  });
});
