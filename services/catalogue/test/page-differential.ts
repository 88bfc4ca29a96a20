// Random readers and writers of products, and two processes of the catalogue: one caches pages in memory, the other
// reads each page.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePorts } from '@shop/shared/embedded';
import { newId } from '@shop/shared/runtime';
import { eventually, plainEnvironment, serviceFolder, type TestServices } from '@shop/shared/testing';
import fc from 'fast-check';
import type pg from 'pg';

export interface OtherProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts another process of the catalogue on the same database, which caches no pages. */
export async function startWithoutPages(services: TestServices): Promise<OtherProcess> {
  const [port] = await freePorts(1);
  const environment = {
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: services.database.urls.catalogue,
    EVENTS_URL: services.database.urls.events,
    JWKS_URL: services.issuer.jwksUrl,
    JWT_ISSUER: services.issuer.issuer,
    JWT_AUDIENCE: services.issuer.audience,
    INTERNAL_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
    CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64url'),
    ORDERS_URL: 'http://127.0.0.1:9',
    ACCOUNTS_URL: 'http://127.0.0.1:9',
    PAGE_CACHE_MB: '0',
  };
  const child: ChildProcess = spawn(process.execPath, [`${serviceFolder('catalogue')}/src/main.ts`], {
    env: { ...plainEnvironment(), ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    const { ok } = await fetch(`${url}/health/ready`);
    if (!ok) throw new Error('the other process is not ready');
  }, 20_000);
  return {
    url,
    async stop() {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** A request for a page. */
export interface PageRequest {
  readonly path: string;
  /** The body of a search; undefined for a list. */
  readonly body?: object;
  /** What the client accepts. Each encoding of a page is cached by itself. */
  readonly encoding: Encoding;
}

type Encoding = 'gzip' | 'identity';
const encoding = fc.constantFrom<Encoding>('gzip', 'identity');

const brands = ['Acme', 'Lumen', 'Zoë'];
const categories = ['kitchen', 'light'];
/** A character beyond the first plane, where the order by code point differs from that by UTF-16 unit. */
const names = ['Kettle', 'Mug', 'mug', 'Zebra', 'Ünder', '\uFB01sh', '𝒜lpha', 'Lamp'];
const statuses = ['available', 'active', 'backorder', 'pending'];
const price = fc.integer({ min: 0, max: 40 }).map((quarters) => quarters / 4);
const rating = fc.integer({ min: 0, max: 10 }).map((halves) => halves / 2);

const condition = fc.oneof(
  fc.record({ field: fc.constant('inStock'), operator: fc.constant('eq'), value: fc.boolean() }),
  fc.record({ field: fc.constant('brand'), operator: fc.constantFrom('eq', 'ne'), value: fc.constantFrom(...brands) }),
  fc.record({ field: fc.constant('category'), operator: fc.constant('eq'), value: fc.constantFrom(...categories) }),
  fc.record({ field: fc.constant('price'), operator: fc.constantFrom('lt', 'lte', 'gt', 'gte'), value: price }),
  fc.record({ field: fc.constant('rating'), operator: fc.constantFrom('gte', 'lt'), value: rating }),
  fc.record({
    field: fc.constant('status'),
    operator: fc.constantFrom('eq', 'ne'),
    value: fc.constantFrom(...statuses),
  }),
);
type Condition = { readonly field: string; readonly operator: string; readonly value: string | number | boolean };
const sorts = [
  'createdAt:desc',
  'createdAt:asc',
  'price:asc',
  'price:desc',
  'name:asc',
  'name:desc',
  'rating:desc,price:asc',
  'rating:asc',
  'rating:desc,createdAt:desc',
  'id:asc',
];
const limit = fc.constantFrom(1, 2, 3, 5, 20);
const shown = fc.constantFrom(undefined, ['id', 'name'], ['price', 'inStock']);
const conditions = fc.uniqueArray(condition, { maxLength: 2, selector: ({ field }) => field });

const list = fc
  .record({ conditions, sort: fc.constantFrom(undefined, ...sorts), limit, shown, encoding })
  .map(({ conditions: all, sort, limit: size, shown: fields, encoding: accepted }): PageRequest => {
    const parameters = new URLSearchParams();
    for (const { field, operator, value } of all) parameters.append(field, `${operator}:${value}`);
    parameters.set('limit', String(size));
    if (sort !== undefined) parameters.set('sort', sort);
    if (fields !== undefined) parameters.set('fields', fields.join());
    return { path: `/v1/products?${parameters}`, encoding: accepted };
  });

const toFilter = (all: readonly Condition[]) =>
  Object.fromEntries(all.map(({ field, operator, value }) => [field, { [operator]: value }]));

const search = fc
  .record({ conditions, or: fc.array(conditions, { maxLength: 3 }), sort: fc.constantFrom(...sorts), limit, encoding })
  .map(({ conditions: all, or, sort, limit: size, encoding: accepted }): PageRequest => {
    const taken = new Set(all.map(({ field }) => field));
    const alternatives = or
      .map((each) => each.filter(({ field }) => !taken.has(field)))
      .filter(({ length }) => length > 0);
    return {
      encoding: accepted,
      path: '/v1/products/search',
      body: {
        filters: { ...toFilter(all), ...(alternatives.length > 1 && { or: alternatives.map(toFilter) }) },
        sort: sort.split(',').map((text) => {
          const [field, direction] = text.split(':');
          return { field, direction };
        }),
        pagination: { limit: size },
      },
    };
  });

/** Returns different requests for pages, the same ones for the same seed. */
export function someRequests(count: number, seed: number): PageRequest[] {
  const all = fc.sample(fc.oneof(list, search), { numRuns: count, seed });
  return [...new Map(all.map((request) => [JSON.stringify(request), request])).values()];
}

const single = ['price', 'name', 'brand', 'rating', 'status', 'stock', 'reserve', 'add', 'remove'] as const;
type Kind = (typeof single)[number] | 'import';

export interface Write {
  readonly kind: Kind;
  readonly which: number;
  readonly price: number;
  readonly name: string;
  readonly brand: string;
  readonly rating: number | undefined;
  readonly status: string;
  readonly category: string;
}

export function someWrites(count: number, seed: number): Write[] {
  const write = fc.record({
    kind: fc.oneof(
      { weight: 29, arbitrary: fc.constantFrom(...single) },
      { weight: 1, arbitrary: fc.constant('import') },
    ),
    which: fc.nat(),
    price,
    name: fc.constantFrom(...names),
    brand: fc.constantFrom(...brands),
    rating: fc.option(rating, { nil: undefined }),
    status: fc.constantFrom(...statuses),
    category: fc.constantFrom(...categories),
  } satisfies { [Key in keyof Write]: fc.Arbitrary<Write[Key]> });
  return fc.sample(write, { numRuns: count, seed });
}

const statements: Readonly<Record<Exclude<Kind, 'add'>, string>> = {
  price: 'UPDATE products SET price_minor = $2 WHERE id = $1',
  name: 'UPDATE products SET name = $2 WHERE id = $1',
  brand: 'UPDATE products SET brand = $2 WHERE id = $1',
  rating: 'UPDATE products SET rating_tenths = $2 WHERE id = $1',
  status: 'UPDATE products SET status = $2 WHERE id = $1',
  stock: 'UPDATE products SET stock = CASE WHEN stock = 0 THEN 2 ELSE 0 END, reserved = 0 WHERE id = $1',
  reserve: 'UPDATE products SET reserved = reserved + 1 WHERE id = $1 AND stock > reserved',
  remove: 'DELETE FROM products WHERE id = $1',
  import: 'UPDATE products SET price_minor = $2, updated_at = now() WHERE id = ANY ($1::uuid[])',
};
/** The numbers of products of an import. After the larger one, all pages are dropped. */
const importSizes = [20, 120];

/** Writes one of the products. Some of the transactions commit later or never. */
export async function writeProduct(pool: pg.Pool, ids: string[], write: Write): Promise<void> {
  if (write.kind === 'add' || ids.length === 0) {
    const id = newId();
    await pool.query(
      `INSERT INTO products (id, name, brand, category, price_minor, rating_tenths, status, stock)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 2)`,
      [id, write.name, write.brand, write.category, write.price * 100, tenths(write), write.status],
    );
    ids.push(id);
    return;
  }
  const index = write.which % ids.length;
  const id = ids[index] ?? '';
  if (write.kind === 'remove') ids.splice(index, 1);
  const size = importSizes[write.which % importSizes.length];
  const values = {
    import: write.price * 100,
    price: write.price * 100,
    name: write.name,
    brand: write.brand,
    rating: tenths(write),
    status: write.status,
  };
  const value = write.kind in values ? [values[write.kind as keyof typeof values]] : [];
  const connection = await pool.connect();
  // The statement that is running fails with the error, or the next one does.
  const ignore = (): void => {};
  connection.on('error', ignore);
  let isBroken = true;
  try {
    await connection.query('BEGIN');
    await connection.query(statements[write.kind], [write.kind === 'import' ? ids.slice(0, size) : id, ...value]);
    const isRolledBack = write.kind !== 'remove' && write.which % 7 === 0;
    await connection.query(isRolledBack ? 'ROLLBACK' : 'COMMIT');
    isBroken = false;
  } finally {
    connection.release(isBroken);
    connection.off('error', ignore);
  }
}

function tenths({ rating: value }: Write): number | null {
  return value === undefined ? null : value * 10;
}

/**
 * Returns the body of a page.
 * @throws when the response is not a page
 */
export async function readPage(origin: string, request: PageRequest): Promise<string> {
  const { path, body } = request;
  const accepted = { 'Accept-Encoding': request.encoding };
  const answer = await fetch(`${origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: body === undefined ? accepted : { ...accepted, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} ${JSON.stringify(body)} answered ${answer.status} ${text}`);
  return text;
}

/** The request for the next page; undefined for the last page. */
export function nextPage(request: PageRequest, text: string): PageRequest | undefined {
  const cursor = /"nextCursor":"([^"]+)"/.exec(text)?.[1];
  if (cursor === undefined) return undefined;
  const { path, body } = request;
  if (body === undefined) return { ...request, path: `${path.replace(/&cursor=.*/, '')}&cursor=${cursor}` };
  const pagination = { ...(body as { pagination: object }).pagination, cursor };
  return { ...request, body: { ...body, pagination } };
}
