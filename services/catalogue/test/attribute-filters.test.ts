// PRODUCT_ATTRIBUTES: filters by declared attributes, over HTTP and by their plans.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Criteria, fromBody, fromQuery } from '@shop/shared/collection';
import { nodesOf, plansOf, startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import pg from 'pg';
import { addSampleProducts } from '../src/operator/seed.ts';
import { parseAttributes } from '../src/product/attribute-filters.ts';
import { productSpec } from '../src/product/product.ts';
import { addProducts, staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;

beforeAll(async () => {
  services = await startServices(['catalogue'], { environment: { PRODUCT_ATTRIBUTES: 'colour,size:number' } });
  ({ client } = services.service('catalogue'));
  await addProducts(services, [
    { name: 'Mug', attributes: { colour: 'red', size: 42 } },
    { name: 'Cup', attributes: { colour: 'blue', size: 0.5, secret: 'x' } },
    { name: 'Jug', attributes: { colour: 'red, dark', size: '42' } },
    { name: 'Pan', attributes: { shade: 'red' } },
    { name: 'Lid' },
    { name: 'Bin', attributes: { size: 4_006_381_333_931 } },
    { name: 'Pin', attributes: { size: 0.000001 } },
    { name: 'Box', attributes: { colour: 'red' }, status: 'pending' },
  ]);
});
afterAll(() => services.stop());

const names = async (query: string, options = {}) => {
  const { status, body } = await client.get(`/v1/products?${query}`, options);
  expect(status).toBe(200);
  return body.items.map(({ name }) => name);
};

describe('200', () => {
  it.each([
    ['attributes.colour=red', ['Mug']],
    ['attributes.colour=eq:red', ['Mug']],
    ['attributes.colour=in:red,blue&sort=name:asc', ['Cup', 'Mug']],
    ['attributes.colour=%22red,%20dark%22', ['Jug']],
    ['attributes.colour=red&attributes.size=42.0', ['Mug']],
    ['attributes.colour=red&attributes.size=43', []],
    ['attributes.size=0.5,42&sort=price:asc,name:asc', ['Cup', 'Jug', 'Mug']],
    ['attributes.size=4006381333931', ['Bin']],
    ['attributes.size=0.0000010', ['Pin']],
    ['attributes.colour=green', []],
    ['q=mug&attributes.colour=red', ['Mug']],
    ['q=mug&attributes.colour=blue&sort=price:asc', []],
    ['attributes.colour=red,blue&facets=brand', ['Cup', 'Mug']],
    ['attributes.colour=red&brand=Acme,Lumen&inStock=false', ['Mug']],
  ])('GET /v1/products lists the matching products for the attribute filter %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('GET /v1/products with attribute filters lists the same in a search, and among alternatives', async () => {
    const search = async (filters: object) => {
      const { status, body } = await client.post('/v1/products/search', { body: { filters, fields: ['name'] } });
      expect(status).toBe(200);
      return body.items;
    };
    expect(await search({ 'attributes.size': { in: [42, 0.5] }, 'attributes.colour': { eq: 'red' } })).toEqual([
      { name: 'Mug' },
    ]);
    const or = [{ 'attributes.colour': { eq: 'blue' } }, { name: { eq: 'Lid' } }];
    expect(await search({ or })).toEqual([{ name: 'Lid' }, { name: 'Cup' }]);
  });

  it('GET /v1/products with attribute filters pages through them, and shows hidden ones to staff', async () => {
    const first = await client.get('/v1/products?attributes.colour=red,blue&limit=1');
    const { nextCursor } = first.body.pagination;
    expect(await names(`attributes.colour=red,blue&limit=1&cursor=${nextCursor}`)).toEqual(['Mug']);
    expect(await names('attributes.colour=red', { token: await staffToken(services) })).toEqual(['Box', 'Mug']);
  });
});

describe('400', () => {
  it.each([
    ['attributes=red', 'attributes is not a known parameter; did you mean attributes.*? known are '],
    ['attributes[colour]=red', 'attributes[colour] is not a known parameter; write attributes.colour=red; known are '],
    ['attributes.color=red', 'attributes.color is not a known parameter; did you mean attributes.colour? known are '],
  ])('the attribute filter %s is rejected as one fault that names the intended parameter', async (query, expected) => {
    const { errors, detail } = (await client.get(`/v1/products?${query}`)).body;
    expect([errors.length, detail.startsWith(expected), detail]).toEqual([1, true, detail]);
  });

  it.each([
    'attributes.secret=x',
    'attributes.colour=ne:red',
    'attributes.size=large',
    'attributes.size=1e3',
    'attributes.size=9007199254740993',
    'attributes=red',
    'attributes.colour=',
    'fields=attributes.colour',
    'sort=attributes.size:asc',
  ])('the attribute filter %s is rejected, and the declared filters are listed', async (query) => {
    const answer = await client.get(`/v1/products?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    if (query.startsWith('attributes.secret')) {
      expect(answer.body.errors).toHaveLength(1);
      expect(answer.body.errors[0]?.detail).toContain('attributes.colour, attributes.size');
    }
  });

  it('GET /v1/products with attribute filters returns 400 for an undeclared attribute in a search', async () => {
    const body = { filters: { 'attributes.secret': { eq: 'x' } } };
    const answer = await client.post('/v1/products/search', { body });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/filters/attributes.secret/eq' }] } });
  });
});

describe('422', () => {
  it('GET /v1/products with attribute filters proposes queries instead of one with too many values', async () => {
    const values = Array.from({ length: 130 }, (_, index) => `c${index}`);
    const { status, body } = await client.get(`/v1/products?attributes.colour=${values}`);
    expect(status).toBe(422);
    expect(String(body.nearest)).toContain(`attributes.colour=${values.slice(0, 100)}`);
    expect((await client.get(`/v1/products?${body.nearest}`)).status).toBe(200);
  });
});

describe('the configuration', () => {
  it.each(['Colour', 'colour,colour', 'colour:date', 'a b', ',', 'colour,'])('the configuration rejects %j', (list) => {
    expect(() => parseAttributes(list)).toThrow(RangeError);
  });
});

describe('a page of 40,000 products', () => {
  let connection: pg.Client;
  const spec = productSpec('EUR', parseAttributes('colour,size:number'));
  const read = (criteria: Criteria) => plansOf(connection, spec, criteria);

  beforeAll(async () => {
    const { urls } = services.database;
    const pool = new pg.Pool({ connectionString: urls.catalogue });
    pool.on('error', () => {});
    await addSampleProducts(pool, 2, { count: 40_000, seed: 3 });
    await pool.end();
    connection = new pg.Client({ connectionString: urls.catalogue });
    await connection.connect();
    // Every second product is white, one in 500 is teal, and each size has 40 products. All products have different
    // times of change.
    await connection.query('ALTER TABLE products DISABLE TRIGGER products_version');
    await connection.query(`UPDATE products SET attributes = json_build_object('colour',
      CASE WHEN stock % 2 = 0 THEN 'white' WHEN hashtext(id::text) % 500 = 0 THEN 'teal' ELSE 'black' END,
      'size', abs(hashtext(name)) % 1000)::text`);
    // A target of 200 takes all 40,000 rows as the sample, so that the statistics are the same in each run.
    await connection.query('SET default_statistics_target = 200');
    await connection.query('VACUUM (ANALYZE) products');
  });
  afterAll(() => connection.end());

  const allSorts = ['createdAt:desc', 'updatedAt:asc', 'price:asc', 'name:asc', 'rating:desc', 'id:asc'];
  const pages: [string, number, string[]?][] = [
    ['attributes.colour=white', 400],
    ['attributes.colour=teal', 400],
    ['attributes.size=7', 400],
    ['attributes.colour=teal&attributes.size=7', 400],
    ['attributes.colour=purple', 400],
    ['attributes.size=1,2,3', 400],
    ['attributes.colour=white&brand=Nordwick', 400],
    ['attributes.colour=teal&brand=Nordwick', 400],
    ['attributes.colour=teal&category=Audio / Speaker', 400],
    // The page takes one scan for each rating, whatever the number of products.
    ['attributes.colour=white', 5_000, ['rating:desc,price:asc', 'rating:desc,updatedAt:asc']],
    ['attributes.colour=teal', 400, ['rating:desc,price:asc']],
  ];
  /** Returns the rows of the table that were read for the first page, and for one from the middle. */
  async function touched(criteria: Criteria): Promise<number[]> {
    return (await read(criteria)).map((plan) =>
      nodesOf(plan)
        .filter((node) => node['Relation Name'] === 'products')
        .reduce(
          (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
          0,
        ),
    );
  }

  it.each(pages)(
    'a page of 40,000 products with %s reads few rows in every sort order',
    async (query, most, sorts = allSorts) => {
      for (const sort of sorts) {
        const parameters = Object.fromEntries(new URLSearchParams(`${query}&sort=${sort}`));
        for (const rows of await touched(fromQuery(spec, parameters)))
          expect([sort, rows <= most ? 'few' : rows]).toEqual([sort, 'few']);
      }
    },
  );

  const colour = (value: string) => ({ 'attributes.colour': { eq: value } });
  const brand = { brand: { eq: 'Nordwick' } };
  const alternatives: [string, readonly object[]][] = [
    ['a rare value, or a brand', [colour('teal'), brand]],
    ['a common value, or a brand', [colour('white'), brand]],
    ['a rare value, or a common one', [colour('teal'), colour('white')]],
    ['a rare value of a brand, or a size', [{ ...colour('teal'), ...brand }, { 'attributes.size': { in: [1, 2, 3] } }]],
    ['an unknown value, or a price range', [colour('purple'), { price: { lt: 20 } }]],
  ];
  it.each(alternatives)('a page of 40,000 products with %s reads few rows in every sort order', async (_name, or) => {
    for (const sort of allSorts) {
      const [field, direction] = sort.split(':');
      for (const rows of await touched(fromBody(spec, { filters: { or }, sort: [{ field, direction }] })))
        expect([sort, rows <= 400 * or.length ? 'few' : rows]).toEqual([sort, 'few']);
    }
  });
});
