// Imports over HTTP: every answer, every kind of line, races and interruptions.
import { type ClientRequest, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '@shop/shared/database';
import { createLog, newId } from '@shop/shared/runtime';
import { type CallOptions, eventually, lockWaits, type TestAnswer, type TestService } from '@shop/shared/testing';
import { importLock } from '../src/imports/import-lines.ts';
import { startImporting } from '../src/imports/run-imports.ts';
import { type Inventory, startInventory } from './inventory.ts';

let inventory: Inventory;
let catalogue: TestService;
/** A database connection that runs imports, as a second replica of the service does. */
let replica: Database;
let token: string;
const accountId = newId();

beforeAll(async () => {
  inventory = await startInventory({ shared: false });
  catalogue = inventory.services.service('catalogue');
  const url = inventory.services.database.urls.catalogue;
  replica = connectDatabase({ url, name: 'tests', log: createLog('tests', 'silent') });
  token = await inventory.services.issuer.sign({ accountId, scopes: ['catalogue:write'] });
});
afterAll(async () => {
  await replica.close();
  await inventory.stop();
});
beforeEach(async () => {
  // Waits for an import that the test before has left, which would wait for one of the tables, and has locked others.
  await query(`
    BEGIN;
    SELECT pg_advisory_xact_lock(${importLock});
    TRUNCATE products, reservations, import_jobs, import_keys, outbox CASCADE;
    COMMIT`);
});

const query = (text: string, values: unknown[] = []) => catalogue.database.query(text, values);
const startReplica = () => startImporting({ database: replica, currency: 'EUR', log: createLog('tests', 'silent') });
const ndjson = { 'Content-Type': 'application/x-ndjson' };
const cup = { externalKey: 'CUP', name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5 };
const textOf = (lines: readonly (string | object)[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

const send = (rawBody: string | Uint8Array<ArrayBuffer>, options: CallOptions = {}): Promise<TestAnswer> =>
  catalogue.client.post('/v1/products/imports', {
    token,
    rawBody,
    ...options,
    headers: { ...ndjson, ...options.headers },
  });

/** A file that is refused when it is received. */
const tooManyLines = '\n'.repeat(100_001);

/** Announces a file of the maximum size, and sends only its beginning. */
function hold(): ClientRequest {
  const headers = { ...ndjson, Authorization: `Bearer ${token}`, 'Content-Length': 10 * 1024 * 1024 };
  const file = request(`${catalogue.url}/v1/products/imports`, { method: 'POST', headers });
  file.on('error', () => {});
  file.write('{}');
  return file;
}

const read = async (id: string): Promise<TestAnswer['body']> =>
  (await catalogue.client.get(`/v1/products-imports/${id}`, { token })).body;

/** Waits for the end of an import and returns it. */
const ended = (id: string, within = 20_000): Promise<TestAnswer['body']> =>
  eventually(async () => {
    const found = await read(id);
    expect(found).toHaveProperty('endedAt');
    return found;
  }, within);

async function imported(body: string | Uint8Array<ArrayBuffer>): Promise<TestAnswer['body']> {
  const { status, body: accepted } = await send(body);
  expect(status).toBe(202);
  return ended(accepted.id);
}

const productOf = async (key: string) => (await query('SELECT * FROM products WHERE external_key = $1', [key])).rows[0];

const manyLines = (count: number, members: object = {}): string =>
  textOf(Array.from({ length: count }, (_, index) => ({ ...cup, externalKey: `K-${index}`, stock: 2, ...members })));

/** Returns how often each line of `manyLines` took effect: products, movements, their units, and events. */
async function effects(): Promise<unknown> {
  const { rows } = await query(`
    SELECT (SELECT count(*)::int FROM products) AS products, (SELECT count(*)::int FROM stock_ledger) AS movements,
      (SELECT sum(quantity)::int FROM stock_ledger) AS units,
      (SELECT count(*)::int FROM outbox WHERE type = 'product.created.v1') AS events`);
  return rows[0];
}

describe('202', () => {
  it('POST /v1/products/imports returns the import and its address before the lines are imported', async () => {
    const { status, headers, body } = await send(textOf([{ ...cup, stock: 7 }, '', { externalKey: 'LID' }]));
    expect(status).toBe(202);
    expect(headers.location).toBe(`/v1/products-imports/${body.id}`);
    expect(body).toEqual({
      ...{ id: expect.any(String), status: 'waiting', lines: 3, linesRead: 0, created: 0, changed: 0, unchanged: 0 },
      ...{ refused: 0, refusedLines: [], createdAt: expect.any(String) },
    });
    expect(await ended(body.id)).toMatchObject({
      ...{ status: 'completed', lines: 3, linesRead: 3, created: 1, changed: 0, unchanged: 0, refused: 1 },
      refusedLines: [
        { line: 3, externalKey: 'LID', code: 'invalid-request', reason: expect.stringContaining('name is required; ') },
      ],
    });
    const { id } = await productOf('CUP');
    expect(await inventory.book(id)).toBe('received 7');
    expect((await catalogue.client.get('/v1/products?q=cup&fields=id')).body.items).toEqual([{ id }]);
    expect(await tablesWithRest()).toEqual([]);
  });

  it('POST /v1/products/imports changes known products as a file of the command line does', async () => {
    await imported(textOf([{ ...cup, stock: 7, description: 'Holds tea' }]));
    expect(await imported(textOf([{ ...cup, stock: 7, description: 'Holds tea' }]))).toMatchObject({ unchanged: 1 });
    expect(await imported(textOf([{ ...cup, price: 5 }]))).toMatchObject({ changed: 1 });
    expect(await productOf('CUP')).toMatchObject({ stock: 7, price_minor: 500, description: null, version: 2 });
  });

  it('the ledger and the events of an import name the author and the request', async () => {
    const requestId = newId();
    const { body } = await send(textOf([{ ...cup, stock: 3 }]), { headers: { 'X-Request-Id': requestId } });
    await ended(body.id);
    const { rows } = await query('SELECT actor, actor_id, request_id, reason FROM stock_ledger');
    expect(rows).toEqual([{ actor: 'staff', actor_id: accountId, request_id: requestId, reason: `import ${body.id}` }]);
    expect((await query('SELECT request_id FROM outbox')).rows).toEqual([{ request_id: requestId }]);
  });

  it('POST /v1/products/imports returns 202 to a machine', async () => {
    const machine = await inventory.services.issuer.sign({ scopes: ['catalogue:write'], isMachine: true });
    expect((await send('{}', { token: machine })).status).toBe(202);
  });

  it.each<[string, string | Uint8Array<ArrayBuffer>, object]>([
    ['one line without an end of line', JSON.stringify(cup), { lines: 1, linesRead: 1, created: 1, refused: 0 }],
    ['a byte order mark', `\uFEFF${JSON.stringify(cup)}\n`, { lines: 1, created: 1, refused: 0 }],
    ['CRLF', `${JSON.stringify(cup)}\r\n\r\n`, { lines: 2, linesRead: 2, created: 1, refused: 0 }],
    ['blank lines only', '\n \n', { status: 'completed', lines: 2, linesRead: 2, created: 0, refused: 0 }],
  ])('an import of a file with %s counts its lines', async (_name, body, counts) => {
    expect(await imported(body)).toMatchObject(counts);
  });

  it.each<[string, string | Uint8Array<ArrayBuffer>, RegExp]>([
    ['invalid UTF-8', new Uint8Array(Buffer.from('{"externalKey":"\xff"}', 'latin1')), /^is not valid UTF-8$/],
    ['NUL', '{"externalKey":"a\\u0000"}', /NUL|character/],
    ['NUL in the name of a member', '{"a\\u0000b":1,"externalKey":"x"}', /NUL|character|must/],
    ['NUL in the name of an attribute', '{"externalKey":"x","attributes":{"a\\u0000":1}}', /NUL|character|must/],
    ['a lone surrogate in the name of a member', '{"a\\ud800b":1,"externalKey":"x"}', /surrogate|Unicode|must/],
    ['a lone surrogate', '{"externalKey":"\\ud800"}', /surrogate|Unicode/],
    ['no JSON', '{"externalKey":', /^is not valid JSON at line 1, column 16: a value is expected$/],
    ['another value than an object', '[]', /^must be a JSON object$/],
    ['a repeated member', '{"price":1,"price":2}', /price/],
    ['a `sku`', JSON.stringify({ ...cup, sku: 'CUP' }), /^sku must be written as externalKey$/],
    ['too many bytes', `{"externalKey":"${'x'.repeat(102_400)}"}`, /^must have at most 102400 bytes$/],
    ['a key that is too long', JSON.stringify({ ...cup, externalKey: 'k'.repeat(300) }), /more than 200 characters/],
  ])('an import rejects only the line with %s', async (_name, line, reason) => {
    const bytes = Buffer.concat([Buffer.from(line), Buffer.from(`\n${JSON.stringify(cup)}`)]);
    expect(await imported(new Uint8Array(bytes))).toMatchObject({
      ...{ status: 'completed', created: 1, refused: 1 },
      refusedLines: [{ line: 1, code: 'invalid-request', reason: expect.stringMatching(reason) }],
    });
  });

  it('an import rejects a repeated key and names both lines, in one part and across parts of the file', async () => {
    const first = { ...cup, price: 1 };
    const found = await imported(`${textOf([first, { ...cup, price: 2 }])}\n${manyLines(600)}\n${textOf([cup])}`);
    const again = 'externalKey is also in line 1: a file has each key once';
    expect(found).toMatchObject({
      ...{ created: 601, changed: 0, refused: 2 },
      refusedLines: [
        { line: 2, externalKey: 'CUP', code: 'invalid-request', reason: again },
        { line: 603, externalKey: 'CUP', code: 'invalid-request', reason: again },
      ],
    });
    expect(await productOf('CUP')).toMatchObject({ price_minor: 100 });
    expect(await imported(textOf([cup]))).toMatchObject({ changed: 1 });
  });

  it('an import rejects a stock that is less than the reserved units', async () => {
    const id = await inventory.product(5);
    await inventory.reserve(newId(), { [id]: 3 });
    expect(await imported(textOf([{ ...cup, externalKey: id, stock: 2 }]))).toMatchObject({
      refusedLines: [
        { line: 1, externalKey: id, code: 'insufficient-stock', reason: expect.stringContaining('the 3 ') },
      ],
    });
    expect(await inventory.figures(id)).toBe('5/3/0');
  });

  it('POST /v1/products/imports shows the first 100 rejected lines and the number of all', async () => {
    const found = await imported(`${'{}\n'.repeat(90)}${manyLines(500)}\n${'{}\n'.repeat(700)}`);
    expect(found).toMatchObject({ lines: 1_290, linesRead: 1_290, created: 500, refused: 790 });
    expect(found.refusedLines.map(({ line }) => line)).toEqual([
      ...Array.from({ length: 90 }, (_, index) => index + 1),
      ...Array.from({ length: 10 }, (_, index) => index + 591),
    ]);
  });
});

describe('with an Idempotency-Key', () => {
  it('a repeated request starts no second import, and another file is rejected', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const answers = await Promise.all([1, 2, 3].map(() => send(textOf([cup]), { headers })));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true);
    const repeated = await send(textOf([cup]), { headers });
    expect(repeated.headers).toHaveProperty('idempotency-replayed', 'true');
    expect(new Set([...accepted, repeated].map(({ body }) => body.id)).size).toBe(1);
    expect((await query('SELECT count(*)::int AS n FROM import_jobs')).rows).toEqual([{ n: 1 }]);
    expect(await send(textOf([{ ...cup, price: 9 }]), { headers })).toMatchObject({
      ...{ status: 422, body: { code: 'idempotency-key-reused' } },
    });
  });
});

describe('a refusal', () => {
  it.each<[string, number, CallOptions & { rawBody?: string }]>([
    ['no body', 400, { rawBody: '' }],
    ['JSON', 415, { rawBody: '{}', headers: { 'Content-Type': 'application/json' } }],
    ['CSV', 415, { rawBody: '{}', headers: { 'Content-Type': 'text/csv' } }],
    ['another charset', 415, { rawBody: '{}', headers: { 'Content-Type': 'application/x-ndjson; charset=utf-16' } }],
    ['a content encoding', 415, { rawBody: '{}', headers: { 'Content-Encoding': 'gzip' } }],
    ['an unknown parameter', 400, { rawBody: '{}' }],
  ])('an import request with %s returns %i', async (name, status, { rawBody = '', headers = {} }) => {
    const path = `/v1/products/imports${name === 'an unknown parameter' ? '?dry=1' : ''}`;
    const answer = await catalogue.client.post(path, { token, rawBody, headers: { ...ndjson, ...headers } });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.headers['accept-post']).toBe('application/x-ndjson');
    expect((await query('SELECT 1 FROM import_jobs')).rows).toEqual([]);
  });

  it('an import request with an empty chunked body returns 400', async () => {
    const answer = await fetch(new URL('/v1/products/imports', catalogue.url), {
      ...{ method: 'POST', body: new Blob([]).stream(), duplex: 'half' },
      headers: { ...ndjson, Authorization: `Bearer ${token}` },
    } as RequestInit);
    expect([answer.status, await answer.json()]).toMatchObject([400, { errors: [{ detail: 'is required' }] }]);
  });

  it('an import request without the scope returns 403, and without a token 401', async () => {
    const other = await inventory.services.issuer.sign();
    expect((await send('{}', { token: other })).status).toBe(403);
    expect((await catalogue.client.post('/v1/products/imports', { rawBody: '{}', headers: ndjson })).status).toBe(401);
    expect((await catalogue.client.get(`/v1/products-imports/${newId()}`, { token: other })).status).toBe(403);
  });

  it('an import request returns 503 while too many large files are processed, and the next file is accepted', async () => {
    const held: ClientRequest[] = [];
    const refused = await eventually(async () => {
      held.push(hold());
      const answer = await send(tooManyLines);
      expect(answer.status).toBe(503);
      return answer;
    });
    expect(refused.headers['retry-after']).toBe('1');
    expect(held.length).toBeGreaterThanOrEqual(4);
    for (const file of held) file.destroy();
    await eventually(async () => expect((await send(tooManyLines)).status).toBe(400));
  });

  it('an import request with too many lines returns 400', async () => {
    const answer = await send(tooManyLines);
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      [{ pointer: '', detail: 'must have at most 100000 lines' }],
    ]);
  });

  it('an import request returns 503 while twenty imports wait', async () => {
    const client = await catalogue.database.connect();
    try {
      await client.query(`SELECT pg_advisory_lock(${importLock})`);
      for (let count = 0; count < 20; count += 1) expect((await send('{}')).status).toBe(202);
      const refused = await send('{}');
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '60']);
      expect((await query('SELECT count(*)::int AS n FROM import_jobs')).rows).toEqual([{ n: 20 }]);
    } finally {
      client.release(true);
    }
  });

  it.each(['not-an-id', newId()])('an unknown import, %s, returns 404', async (id) => {
    expect((await catalogue.client.get(`/v1/products-imports/${id}`, { token })).status).toBe(404);
  });

  it('another method of an import returns 405', async () => {
    const answer = await fetch(new URL('/v1/products/imports', catalogue.url));
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});

/** Returns the tables that still contain rows of an import. */
async function tablesWithRest(): Promise<string[]> {
  const { rows } = await query(`
    SELECT 'import_parts' AS name FROM import_parts UNION SELECT 'import_keys' FROM import_keys`);
  return rows.map(({ name }) => name);
}

describe('two imports', () => {
  it('two imports run one after the other, in the order in which they were accepted', async () => {
    const first = (await send(manyLines(1_500, { price: 1 }))).body;
    const second = (await send(manyLines(1_500, { price: 2 }))).body;
    const [one, two] = [await ended(first.id), await ended(second.id)];
    expect(one).toMatchObject({ status: 'completed', created: 1_500, changed: 0 });
    expect(two).toMatchObject({ status: 'completed', created: 0, changed: 1_500 });
    expect((await query('SELECT DISTINCT price_minor FROM products')).rows).toEqual([{ price_minor: 200 }]);
  });

  it('two imports that arrive together are not mixed, while several replicas run them', async () => {
    const stops = [startReplica(), startReplica()];
    const accepted = await Promise.all([1, 2, 3].map((price) => send(manyLines(1_200, { price }))));
    const all = await Promise.all(accepted.map(({ body }) => ended(body.id)));
    await Promise.all(stops.map((stop) => stop()));
    expect(all.map(({ created }) => Number(created)).sort((a, b) => a - b)).toEqual([0, 0, 1_200]);
    expect(all.every(({ created, changed }) => Number(created) + Number(changed) === 1_200)).toBe(true);
    expect((await query('SELECT DISTINCT price_minor FROM products')).rows).toHaveLength(1);
    expect(await effects()).toEqual({ products: 1_200, movements: 1_200, units: 2_400, events: 1_200 });
    expect(await inventory.verify()).toMatchObject({ faults: [] });
  });

  it('two imports of the command line and over HTTP do not run at the same time', async () => {
    const client = await catalogue.database.connect();
    try {
      await client.query(`SELECT pg_advisory_lock(${importLock})`);
      const { body } = await send(textOf([cup]));
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect(await read(body.id)).toMatchObject({ status: 'waiting', linesRead: 0 });
      await client.query(`SELECT pg_advisory_unlock(${importLock})`);
      expect(await ended(body.id)).toMatchObject({ status: 'completed', created: 1 });
    } finally {
      client.release(true);
    }
  });
});

describe('an import', () => {
  const all = 6_000;

  it('an import is continued by another replica when its process is killed, and each line takes effect once', async () => {
    let id = '';
    const client = await catalogue.database.connect();
    try {
      // The last line waits for another transaction.
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO products (id, external_key, name, brand, category, price_minor, status)
         VALUES (gen_random_uuid(), 'K-${all - 1}', 'Cup', 'Acme', 'cups', 100, 'available')`,
      );
      id = (await send(manyLines(all))).body.id;
      await eventually(async () => expect((await read(id)).linesRead).toBeGreaterThan(0));
      await catalogue.kill('SIGKILL');
    } finally {
      client.release(true);
    }
    const { rows } = await query('SELECT lines_read FROM import_jobs');
    expect(rows[0].lines_read).toBeLessThan(all);
    const stop = startReplica();
    try {
      await eventually(async () => {
        expect((await query('SELECT status FROM import_jobs')).rows).toEqual([{ status: 'completed' }]);
      }, 30_000);
    } finally {
      await stop();
      await catalogue.restart();
    }
    expect(await read(id)).toMatchObject({ lines: all, linesRead: all, created: all, changed: 0, refused: 0 });
    expect(await effects()).toEqual({ products: all, movements: all, units: 2 * all, events: all });
    expect(await tablesWithRest()).toEqual([]);
  });

  it('an import continues after a restart of the only process', async () => {
    const { body } = await send(manyLines(all));
    await eventually(async () => expect((await read(body.id)).linesRead).toBeGreaterThan(0));
    await catalogue.restart();
    expect(await ended(body.id, 30_000)).toMatchObject({ status: 'completed', created: all });
    expect(await effects()).toEqual({ products: all, movements: all, units: 2 * all, events: all });
  });

  it('an import changes a product that gets one of its keys by a request while the import runs', async () => {
    const id = await inventory.product(3);
    const client = await catalogue.database.connect();
    try {
      await client.query('BEGIN');
      await client.query("UPDATE products SET external_key = 'CUP' WHERE id = $1", [id]);
      const { body } = await send(textOf([{ ...cup, price: 9 }]));
      await eventually(async () => expect(await lockWaits(catalogue.database)).toBe(1));
      await client.query('COMMIT');
      expect(await ended(body.id)).toMatchObject({ status: 'completed', created: 0, changed: 1 });
    } finally {
      client.release(true);
    }
    expect(await productOf('CUP')).toMatchObject({ id, price_minor: 900 });
  });

  it('an import fails at the line that cannot be imported and retains the imported lines, and the next import runs', async () => {
    await query(`
      CREATE FUNCTION refuse_product() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$;
      CREATE TRIGGER refuse_product BEFORE INSERT ON products FOR EACH ROW WHEN (NEW.external_key = 'K-700')
      EXECUTE FUNCTION refuse_product()`);
    try {
      const { body } = await send(manyLines(1_200));
      const next = await send(textOf([cup]));
      expect(await ended(body.id, 60_000)).toMatchObject({ status: 'failed', linesRead: 700, created: 700 });
      expect(await ended(next.body.id)).toMatchObject({ status: 'completed', created: 1 });
      expect((await query('SELECT count(*)::int AS n FROM products')).rows).toEqual([{ n: 701 }]);
      expect(await tablesWithRest()).toEqual([]);
      expect(catalogue.output()).toContain('an import has failed');
    } finally {
      await query('DROP FUNCTION refuse_product CASCADE');
    }
  });

  it('the import job imports fewer lines together when a statement takes too long, and ends', async () => {
    await query(`
      CREATE FUNCTION delay_products() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM added) > 100 THEN PERFORM pg_sleep(20); END IF; RETURN NULL;
      END $$;
      CREATE TRIGGER delay_products AFTER INSERT ON products REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION delay_products()`);
    try {
      const { body } = await send(manyLines(300));
      expect(await ended(body.id, 90_000)).toMatchObject({ status: 'completed', created: 300, refused: 0 });
      expect(await effects()).toEqual({ products: 300, movements: 300, units: 600, events: 300 });
    } finally {
      await query('DROP FUNCTION delay_products CASCADE');
    }
  });

  it('an import is removed 7 days after its end', async () => {
    const { id } = await imported(textOf([cup]));
    const { id: kept } = await imported(textOf([cup]));
    await query("UPDATE import_jobs SET ended_at = now() - interval '169 hours' WHERE id = $1", [id]);
    // The service prunes when it starts.
    await catalogue.restart();
    await eventually(async () => {
      expect((await catalogue.client.get(`/v1/products-imports/${id}`, { token })).status).toBe(404);
    });
    expect(await read(kept)).toMatchObject({ status: 'completed' });
  });
});
