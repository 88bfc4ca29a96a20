// PAGE_CACHE_MB: every cached page equals the page that the database would return.
import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  atThisPace,
  eventually,
  slowness,
  startServices,
  type TestService,
  type TestServices,
} from '@shop/shared/testing';
import {
  nextPage,
  type OtherProcess,
  type PageRequest,
  readPage,
  someRequests,
  someWrites,
  startWithoutPages,
  writeProduct,
} from './page-differential.ts';
import { addProducts, staffToken } from './products.ts';

let services: TestServices;
let catalogue: TestService;

beforeAll(async () => {
  services = await startServices(['catalogue'], { environment: { PAGE_CACHE_MB: '8', DATABASE_READ_LAG_MS: '1000' } });
  catalogue = services.service('catalogue');
  await untilKept();
});
afterAll(() => services.stop());

/** Milliseconds after a commit within which every page shows it. */
const bound = 50;
const settle = () => sleep(bound * slowness());

const kept = 'pages of products are kept in memory';
const untilKept = () => eventually(() => expect(catalogue.output()).toContain(kept), 20_000);

/** Runs `work` while the table of products cannot be read, so that every successful response comes from memory. */
async function withoutDatabase<T>(work: () => Promise<T>): Promise<T> {
  const connection = await catalogue.database.connect();
  try {
    await connection.query('BEGIN');
    await connection.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
    return await work();
  } finally {
    await connection.query('ROLLBACK');
    connection.release();
  }
}

/** Whether the page is returned while the table cannot be read. */
async function isKept(path: string, init: RequestInit = {}): Promise<boolean> {
  return withoutDatabase(() =>
    fetch(`${catalogue.url}${path}`, { ...init, signal: AbortSignal.timeout(atThisPace(600)) }).then(
      () => true,
      () => false,
    ),
  );
}

/** Requests a list without decompressing the response. */
function rawPage(
  path: string,
  headers: Record<string, string>,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = get(`${catalogue.url}${path}`, { headers }, (answer) => {
      buffer(answer).then((body) => resolve({ headers: answer.headers, body }), reject);
    });
    request.on('error', reject);
  });
}

const search = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
const bearer = (token: string): RequestInit => ({ headers: { Authorization: `Bearer ${token}` } });

describe('a page that was read', () => {
  let cheap = '';
  let dear = '';
  const lists = { cheap: '/v1/products?price=lt:10', dear: '/v1/products?price=gte:100', all: '/v1/products?limit=2' };

  beforeAll(async () => {
    [cheap = '', dear = ''] = await addProducts(services, [
      { name: 'Mug', price: 5, stock: 5 },
      { name: 'Lamp', price: 150, stock: 5 },
      { name: 'Vase', price: 50, stock: 5 },
      { name: 'Bowl', price: 51, stock: 5 },
    ]);
    await settle();
  });
  beforeEach(async () => {
    for (const path of Object.values(lists)) await catalogue.client.get(path);
  });

  it('a cached page is served to customers with and without a token, with the same body and headers', async () => {
    const token = await services.issuer.sign();
    const read = await fetch(`${catalogue.url}${lists.all}`, bearer(token));
    await withoutDatabase(async () => {
      for (const init of [{}, bearer(token)]) {
        const again = await fetch(`${catalogue.url}${lists.all}`, init);
        const headers = (answer: Response) =>
          Object.fromEntries([...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name)));
        expect(headers(again)).toEqual(headers(read));
        expect(again.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      }
    });
    expect(await (await fetch(`${catalogue.url}${lists.all}`)).text()).toBe(await read.text());
  });

  it('a cached page returns 304 to a client that has it, and 200 to one that has another', async () => {
    const { etag = '' } = (await catalogue.client.get(lists.all)).headers;
    await withoutDatabase(async () => {
      const ask = (tag: string) => fetch(`${catalogue.url}${lists.all}`, { headers: { 'If-None-Match': tag } });
      expect([(await ask(etag)).status, (await ask('"other"')).status]).toEqual([304, 200]);
    });
  });

  it('a cached page is compressed for clients that accept gzip, with a separate entity tag, and cached in both encodings', async () => {
    const path = `/v1/products?brand=Acme,${'Other'.repeat(10)}&sort=name:asc`;
    const token = await staffToken(services);
    for (const name of ['Pan', 'Pot', 'Cup'])
      await catalogue.client.post('/v1/products', {
        token,
        body: { name, brand: 'Acme', category: 'kitchen', price: 20, description: name.repeat(200) },
      });
    await settle();
    const encodings = ['gzip', 'br, gzip;q=0.5', 'identity', 'gzip;q=0', 'br'];
    const readAll = async () => {
      const pages = [];
      for (const encoding of encodings) pages.push(await rawPage(path, { 'Accept-Encoding': encoding }));
      return pages;
    };
    const read = await readAll();
    const kept = await withoutDatabase(readAll);
    expect(read.map(({ headers }) => headers['content-encoding'])).toEqual([
      'gzip',
      'gzip',
      undefined,
      undefined,
      undefined,
    ]);
    for (const [index, { headers, body }] of kept.entries()) {
      const first = read[index];
      expect(body).toEqual(first?.body);
      expect({ ...headers, date: '', 'x-request-id': '' }).toEqual({ ...first?.headers, date: '', 'x-request-id': '' });
      expect(headers.vary).toBe('Authorization, Accept-Encoding');
      expect(Number(headers['content-length'])).toBe(body.length);
    }
    const [compressed, , plain] = kept;
    expect(gunzipSync(compressed?.body ?? '').equals(plain?.body ?? Buffer.of())).toBe(true);
    expect(compressed?.headers.etag).not.toBe(plain?.headers.etag);
    const again = await rawPage(path, {
      'Accept-Encoding': 'gzip',
      'If-None-Match': compressed?.headers.etag ?? '',
    });
    expect([again.body.length, again.headers.etag]).toEqual([0, compressed?.headers.etag]);
  });

  it('a search with the same criteria gets the cached body', async () => {
    const body = { filters: { brand: { eq: 'Acme' } } };
    await catalogue.client.post('/v1/products/search', { body });
    expect(await isKept('/v1/products/search', search(body))).toBe(true);
    expect(await isKept('/v1/products/search', search({ filters: { brand: { ne: 'Acme' } } }))).toBe(false);
  });

  it('a cached page is not served to staff, who read the database', async () => {
    const token = await staffToken(services);
    expect((await catalogue.client.get(lists.all, { token })).body.items[0]).toHaveProperty('stock');
    expect(await isKept(lists.all, bearer(token))).toBe(false);
    expect((await catalogue.client.get(lists.all)).body.items[0]).not.toHaveProperty('stock');
  });

  it.each<[string, number, RequestInit]>([
    ['a list of entity tags that is not valid', 400, { headers: { 'If-None-Match': 'abc' } }],
    ['a media type that is not JSON', 406, { headers: { Accept: 'text/html' } }],
  ])('a cached page is not served to a request with %s', async (_, status, init) => {
    expect((await fetch(`${catalogue.url}${lists.all}`, init)).status).toBe(status);
  });

  it.each<[string, RequestInit]>([
    ['HEAD', { method: 'HEAD' }],
    ['a GET that is refused for its list of entity tags', { headers: { 'If-None-Match': 'abc' } }],
  ])('a page is cached when it was read for %s', async (name, init) => {
    const path = `/v1/products?limit=${name.length}`;
    await fetch(`${catalogue.url}${path}`, init);
    expect(await isKept(path)).toBe(true);
  });

  it('the last of many concurrent changes removes a page from the cache', async () => {
    expect(await isKept(lists.dear)).toBe(true);
    await catalogue.database.query(
      `INSERT INTO products (id, name, brand, category, price_minor, status)
       SELECT gen_random_uuid(), 'Many', 'Acme', 'things', 2000, 'pending' FROM generate_series(1, 500)`,
    );
    await settle();
    expect(await isKept(lists.dear)).toBe(false);
    await catalogue.database.query("DELETE FROM products WHERE name = 'Many'");
    await settle();
    await catalogue.client.get(lists.dear);
    expect(await isKept(lists.dear)).toBe(true);
  });

  it('a page stays cached when a product outside of it changes', async () => {
    const token = await staffToken(services);
    await catalogue.client.patch(`/v1/products/${cheap}`, { token, body: { name: 'Cup' } });
    await settle();
    expect([await isKept(lists.cheap), await isKept(lists.dear), await isKept(lists.all)]).toEqual([false, true, true]);
  });

  it('a page is dropped from the cache when a product is added to it', async () => {
    const token = await staffToken(services);
    await catalogue.client.patch(`/v1/products/${dear}`, { token, body: { price: 7 } });
    await settle();
    expect([await isKept(lists.cheap), await isKept(lists.dear), await isKept(lists.all)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('a page stays cached through a change of stock, and is dropped when that changes inStock', async () => {
    await catalogue.database.query('UPDATE products SET reserved = 4 WHERE id = $1', [cheap]);
    await settle();
    expect(await isKept(lists.cheap)).toBe(true);
    await catalogue.database.query('UPDATE products SET reserved = 5 WHERE id = $1', [cheap]);
    await settle();
    expect(await isKept(lists.cheap)).toBe(false);
  });

  it('a cached page is not used after the connection for changes was lost, and is read again', async () => {
    expect(await isKept(lists.all)).toBe(true);
    const before = catalogue.output().length;
    const { rowCount } = await catalogue.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'catalogue-pages' AND datname = current_database()`,
    );
    expect(rowCount).toBe(1);
    await eventually(() => expect(catalogue.output().slice(before)).toContain('no pages of products are kept'));
    expect(await isKept(lists.all)).toBe(false);
    await eventually(() => expect(catalogue.output().slice(before)).toContain(` ${kept}`.trim()), 10_000);
    expect(await isKept(lists.all)).toBe(false);
    await catalogue.client.get(lists.all);
    expect(await isKept(lists.all)).toBe(true);
  });

  it('a cached page is not used while the connection for changes hangs', async () => {
    const { rows } = await catalogue.database.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'catalogue-pages' AND datname = current_database()",
    );
    const [{ pid } = { pid: 0 }] = rows;
    process.kill(pid, 'SIGSTOP');
    try {
      await catalogue.database.query("UPDATE products SET name = 'Pot' WHERE id = $1", [cheap]);
      await eventually(async () => {
        const { body } = await catalogue.client.get(lists.cheap);
        expect(body.items.map(({ name }) => name)).toContain('Pot');
      }, 1_500 * slowness());
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});

describe('random readers and writers', () => {
  const [rounds, writesOfRound, readers] = [8, 60, 4];
  let other: OtherProcess;

  beforeAll(async () => {
    other = await startWithoutPages(services);
    await untilKept();
  });
  afterAll(() => other.stop());

  it('random readers and writers get the pages that a process without kept pages reads', async () => {
    const { rows } = await catalogue.database.query<{ id: string }>('SELECT id FROM products');
    await catalogue.database.query('DELETE FROM stock_ledger');
    const ids = rows.map(({ id }) => id);
    let requests: PageRequest[] = someRequests(150, 1);
    const writes = someWrites(rounds * writesOfRound, 2);
    let compared = 0;
    for (let round = 0; round < rounds; round += 1) {
      let writing = true;
      const reading = Array.from({ length: readers }, async (_, reader) => {
        for (let turn = reader; writing; turn += 1) {
          const request = requests[(turn * 7) % requests.length];
          if (request !== undefined) await readPage(catalogue.url, request);
        }
      });
      for (const write of writes.slice(round * writesOfRound, (round + 1) * writesOfRound))
        await writeProduct(catalogue.database, ids, write);
      writing = false;
      await Promise.all(reading);
      await settle();
      const next: PageRequest[] = [];
      for (const request of requests) {
        const [one, two] = await Promise.all([readPage(catalogue.url, request), readPage(other.url, request)]);
        expect({ request, page: one }).toEqual({ request, page: two });
        compared += 1;
        const behind = nextPage(request, one);
        if (behind !== undefined) next.push(behind);
      }
      requests = [...requests.slice(0, 150), ...next.slice(0, 100)];
    }
    expect(compared).toBeGreaterThan(rounds * 100);
  });
});
