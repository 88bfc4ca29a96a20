// The minimal server: node:http and pg, with one handwritten prepared statement for each case or for each combination
// of filters and order, dates as text, and no validation.
import { createServer } from 'node:http';
import pg from 'pg';
import { alternatives, brands, range, rating } from './cases.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const timestamptz = 1184;
pg.types.setTypeParser(timestamptz, (text) => text);
pg.types.setTypeParser(20, Number);

/** The members of a product that customers get. */
const columns = `id, name, description, brand, category, price_minor, rating_tenths, status,
  stock > reserved AS in_stock, images, attributes,
  created_at, updated_at`;
const newest = 'ORDER BY created_at DESC, id DESC LIMIT 21';
const merged = (parts: readonly string[], distinct = '') => {
  const scans = parts.map((part) => `(SELECT ${columns} FROM products WHERE ${part} ${newest})`);
  return `SELECT ${distinct} * FROM (${scans.join(' UNION ALL ')}) AS merged ${newest}`;
};
const [first, second, third] = alternatives;

const statements: Readonly<Record<string, { text: string; values: unknown[] }>> = {
  '/0': { text: `SELECT ${columns} FROM products ${newest}`, values: [] },
  '/1': { text: `SELECT ${columns} FROM products WHERE (created_at, id) < ($1, $2) ${newest}`, values: [] },
  '/2': {
    text: `SELECT ${columns} FROM products WHERE price_minor >= $1 AND price_minor <= $2
      ORDER BY price_minor, id LIMIT 21`,
    values: [range.from * 100, range.to * 100],
  },
  '/3': {
    text: merged(['brand = $1 AND rating_tenths >= $3', 'brand = $2 AND rating_tenths >= $3']),
    values: [...brands, rating * 10],
  },
  '/4': {
    text: merged(
      ['brand = $1 AND price_minor < $2', 'brand = $3 AND rating_tenths >= $4', 'brand = $5'],
      'DISTINCT ON (created_at, id)',
    ),
    values: [first.brand, first.price.lt * 100, second.brand, second.rating.gte * 10, third.brand],
  },
};

const sortColumns: Readonly<Record<string, string>> = {
  createdAt: 'created_at',
  name: 'name',
  price: 'price_minor',
  rating: 'rating_tenths',
};
const priceOperators: Readonly<Record<string, string>> = { lt: '<', gte: '>=' };

/** The statement of `GET /v1/products` with the parameters that the benchmark of pages uses. */
function pageStatement(query: URLSearchParams): { text: string; values: unknown[]; limit: number } {
  const values: unknown[] = [];
  const conditions = ['brand', 'category'].flatMap((column) =>
    query.has(column) ? [`${column} = $${values.push(query.get(column))}`] : [],
  );
  for (const part of query.get('price')?.split(',') ?? []) {
    const [operator = '', price] = part.split(':');
    conditions.push(`price_minor ${priceOperators[operator]} $${values.push(Number(price) * 100)}`);
  }
  const order = (query.get('sort') ?? 'createdAt:desc').split(',').map((part) => part.split(':'));
  const by = order.map(([field = '', direction]) => `${sortColumns[field]} ${direction}`);
  const limit = Number(query.get('limit') ?? 20);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return {
    text: `SELECT ${columns} FROM products ${where} ORDER BY ${by.join()}, id ${order.at(-1)?.[1]} LIMIT ${limit + 1}`,
    values,
    limit,
  };
}

const names = new Map<string, string>();

/** A short name for each text, because PostgreSQL cuts names of statements off after 63 bytes. */
function nameOf(sql: string): string {
  const name = names.get(sql) ?? `page ${names.size}`;
  names.set(sql, name);
  return name;
}

function caseStatement(path: string, after: string | undefined): { text: string; values: unknown[]; limit: number } {
  const { text = '', values = [] } = statements[path] ?? {};
  return { text, values: after ? decodeURIComponent(after).split('|') : values, limit: 20 };
}

const server = createServer(async (request, response) => {
  const [path = '', after] = (request.url ?? '').split('?');
  const isPage = path === '/v1/products';
  const { text: sql, values, limit } = isPage ? pageStatement(new URLSearchParams(after)) : caseStatement(path, after);
  const { rows } = await pool.query({ name: isPage ? nameOf(sql) : path, text: sql, values });
  const hasMore = rows.length > limit;
  const items = hasMore ? rows.slice(0, limit) : rows;
  const last = items.at(-1);
  const text = JSON.stringify({
    items,
    pagination: { limit, hasMore, nextCursor: last && `${last.created_at}|${last.id}` },
  });
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('listening\n'));
