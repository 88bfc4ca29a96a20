// Every list of the orders of all accounts reads about a page from an index, however unevenly the orders are
// distributed over the states, and every index is used by one of them. The erasure of an account reads the stored
// responses that it deletes, and no others.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Criteria, fromQuery } from '@shop/shared/collection';
import { createTestDatabase, nodesOf, type Plan, plansOf, recordPlans, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { countPersonalData, eraseOrders } from '../src/order/erase-orders.ts';
import { orderSpec } from '../src/order/order-spec.ts';

const ofAll = orderSpec('EUR', 'all');
const ofAccount = orderSpec('EUR', 'own');
/**
 * The maximum number of order rows that a page of 20 may read: some pages for each branch, all orders that a filter
 * keeps, or as many as lie between 21 evenly distributed ones.
 */
const mostRows = 6_000;
const used = new Set<string>();
let database: TestDatabase;
let client: pg.Client;
let account: string;
/** A hundred ids, spread over the whole time. */
let ids: string;

/**
 * Orders of two years, oldest first: 100,000 delivered ones, of which the first 200 are cancelled instead, then 100
 * shipped ones, 20 in processing, and 50 pending ones.
 */
const sample = `
  INSERT INTO orders (id, account_id, reservation_id, status, currency, total_minor, created_at, updated_at,
    cancelled_at, stock_released, customer_notified)
  SELECT uuidv7(at - now()), md5('account ' || n % 2000)::uuid, gen_random_uuid(), status, 'EUR',
    100 + n * 7919 % 99991, at, at + interval '2 days' * random(),
    CASE status WHEN 'cancelled' THEN at END, CASE status WHEN 'cancelled' THEN 'done' END,
    CASE status WHEN 'cancelled' THEN 'done' END
  FROM generate_series(1, 100370) AS n,
    LATERAL (SELECT now() - interval '10 minutes' * (100371 - n) AS at, CASE
      WHEN n <= 200 THEN 'cancelled' WHEN n <= 100200 THEN 'delivered' WHEN n <= 100300 THEN 'shipped'
      WHEN n <= 100320 THEN 'processing' ELSE 'pending' END AS status) AS sampled
  ORDER BY n`;

/** The stored responses of a day: one to a customer and four to staff for each of 4,000 orders of 2,000 accounts. */
const responses = `
  INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers, body)
  SELECT CASE operation WHEN 'createOrder' THEN owner ELSE md5('staff ' || n % 5)::uuid::text END, operation,
    'key ' || n, md5('request ' || n), 200, '{}',
    format('{"id":"%s","status":"processing","createdAt":"%s","accountId":"%s","customer":{"name":"%s"}}',
      uuidv7(), now(), owner, repeat('A long name ', 30))
  FROM generate_series(1, 4000) AS n,
    LATERAL (SELECT md5('account ' || n % 2000)::uuid::text AS owner) AS account,
    unnest(ARRAY['createOrder', 'processOrder', 'shipOrder', 'deliverOrder', 'cancelOrder']) AS operation`;

beforeAll(async () => {
  database = await createTestDatabase(['orders']);
  client = new pg.Client({ connectionString: database.urls.orders });
  await client.connect();
  await client.query('SELECT setseed(0.3)');
  for (const table of ['orders', 'idempotency_keys'])
    await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  await client.query(sample);
  await client.query(responses);
  // A target of 350 takes all of about 100,000 orders as the sample, so that the statistics cover all rows.
  await client.query('SET default_statistics_target = 350');
  await client.query('VACUUM (ANALYZE) orders, idempotency_keys');
  const { rows } = await client.query<{ id: string; account: string }>(
    'SELECT id, account_id AS account FROM orders WHERE total_minor % 997 = 3 ORDER BY id LIMIT 100',
  );
  ids = rows.map(({ id }) => id).join();
  account = rows[50]?.account ?? '';
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** The rows of orders that a plan reads. */
function rowsOf(plan: Plan): number {
  const scans = nodesOf(plan).filter((node) => node['Relation Name'] === 'orders');
  return scans.reduce(
    (sum, node) =>
      sum +
      node['Actual Loops'] *
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)),
    0,
  );
}

async function expectPages(plans: Promise<Plan[]>): Promise<void> {
  for (const plan of await plans) {
    for (const node of nodesOf(plan)) if (node['Index Name']) used.add(node['Index Name']);
    const whole = nodesOf(plan).filter(
      (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'orders',
    );
    expect(whole).toEqual([]);
    expect(rowsOf(plan)).toBeLessThanOrEqual(mostRows);
  }
}

const pagesOf = (criteria: Criteria): Promise<void> => expectPages(plansOf(client, ofAll, criteria));
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

const sorts = ['createdAt', 'updatedAt', 'totalCost', 'id'].flatMap((field) => [`${field}:asc`, `${field}:desc`]);
const statusFilters: Readonly<Record<string, string>> = {
  'the usual state': 'delivered',
  'a rare state': 'pending',
  'a rare state of old orders': 'cancelled',
  'two states': 'pending,cancelled',
  'all but the usual state': 'ne:delivered',
  'all but two states': 'ne:delivered,ne:cancelled',
  'all but a rare state': 'ne:pending',
};

describe('all orders', () => {
  it.each(sorts)('a page of all orders reads few rows with sort=%s', async (sort) =>
    pagesOf(fromQuery(ofAll, { sort })),
  );

  const pairs = sorts.flatMap((a) => sorts.filter((b) => a.split(':')[0] !== b.split(':')[0]).map((b) => `${a},${b}`));
  it.each(pairs.filter((pair) => !pair.startsWith('id')))(
    'a page of all orders with two criteria reads few rows with sort=%s',
    async (sort) => pagesOf(fromQuery(ofAll, { sort })),
  );
});

describe.each(Object.entries(statusFilters))('%s', (_name, status) => {
  // No filter has an index in the order of ids, which is nearly the order of createdAt.
  it.each(sorts.filter((sort) => !sort.startsWith('id')))(
    'a filtered page of all orders reads few rows with sort=%s',
    async (sort) => pagesOf(fromQuery(ofAll, { status, sort })),
  );

  it.each(['createdAt:asc', 'createdAt:desc'])(
    'a page filtered by a time and an amount reads few rows with sort=%s',
    async (sort) => pagesOf(fromQuery(ofAll, { status, sort, createdAt: `gte:${daysAgo(300)}`, totalCost: 'gte:10' })),
  );
});

describe.each(Object.entries(statusFilters))('%s with a rare amount', (_name, status) => {
  it.each(sorts.filter((sort) => !sort.startsWith('id')))(
    'a page with a rare amount reads few rows with sort=%s',
    async (sort) => pagesOf(fromQuery(ofAll, { status, sort, totalCost: 'gte:100050' })),
  );
});

describe('times', () => {
  it.each(sorts.slice(0, 4))('a page filtered by times of creation reads few rows with sort=%s', async (sort) =>
    pagesOf(fromQuery(ofAll, { sort, createdAt: `gte:${daysAgo(400)},lt:${daysAgo(399)}` })),
  );

  // The oldest of the orders that were changed lately are found by a scan from the oldest order on.
  it.each(sorts.slice(1, 4))('a page filtered by times of the last change reads few rows with sort=%s', async (sort) =>
    pagesOf(fromQuery(ofAll, { sort, updatedAt: `gte:${daysAgo(1)}` })),
  );
});

describe('other filters', () => {
  it.each(sorts)('a page filtered by ids reads few rows with sort=%s', async (sort) =>
    pagesOf(fromQuery(ofAll, { sort, id: ids })),
  );

  it.each(sorts)('a page filtered by ids in two states reads few rows with sort=%s', async (sort) =>
    pagesOf(fromQuery(ofAll, { sort, id: ids, status: 'delivered,cancelled' })),
  );

  it.each(sorts.filter((sort) => !sort.startsWith('id')))(
    'a page filtered by a range of amounts reads few rows with sort=%s',
    async (sort) => pagesOf(fromQuery(ofAll, { sort, totalCost: 'gte:500,lt:505' })),
  );
});

describe("one account's orders", () => {
  it.each(['createdAt:asc', 'createdAt:desc', 'totalCost:asc', 'totalCost:desc'])(
    "a page of one account's orders reads few rows with sort=%s",
    async (sort) => {
      const filters = [{}, { status: 'delivered' }, { updatedAt: `gte:${daysAgo(100)}` }, { id: ids }];
      for (const filter of filters) {
        await expectPages(plansOf(client, ofAccount, fromQuery(ofAccount, { ...filter, sort }), { account }));
      }
    },
  );
});

describe('expiry', () => {
  it('the expiry job reads the pending orders only', async () => {
    await client.query('SET plan_cache_mode = auto');
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON)
      SELECT id, created_at FROM orders
      WHERE status = 'pending' AND created_at < now() AND (created_at, id) > ('1970-01-01', '${account}')
      ORDER BY created_at, id LIMIT 100`);
    expect(rowsOf(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThanOrEqual(50);
  });
});

describe('erasure', () => {
  const [byKey, byOrder, byReturn] = [
    'idempotency_keys_pkey',
    'idempotency_keys_order_account',
    'idempotency_keys_return_account',
  ];
  /** An account whose orders are all delivered or cancelled. */
  const erased = createHash('md5')
    .update('account 5')
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

  it('the erasure reads the stored responses to staff by the account of the order', async () => {
    const plans = await recordPlans(client, 'idempotency_keys', async (tx) => {
      expect(await eraseOrders(tx, erased)).toBe('done');
    });
    const reads = { indexes: [byOrder], rows: 8 };
    const none = { indexes: [byReturn], rows: 0 };
    expect(plans).toEqual([reads, reads, none, none]);
  });

  it('the erasure is verified by the index of the receiving account and by the index of the account of the order', async () => {
    const plans = await recordPlans(client, 'idempotency_keys', async ({ connection }) => {
      expect(await countPersonalData(connection, erased)).toEqual({ idempotency_keys: 10 });
    });
    const reads = { indexes: [byOrder, byKey, byReturn], rows: 10 };
    expect(plans).toEqual([reads, reads]);
  });
});

describe('indexes', () => {
  it('the indexes are each used by at least one of these pages', async () => {
    const { rows } = await client.query("SELECT indexname FROM pg_indexes WHERE tablename = 'orders' ORDER BY 1");
    expect(rows.map(({ indexname }) => indexname).filter((name) => !used.has(name))).toEqual([]);
  });
});
