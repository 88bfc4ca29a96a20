// The seed process: realistic products, progress a line each, the demo once.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestServices } from '@shop/shared/testing';

let services: TestServices;

beforeAll(async () => {
  services = await startServices(['catalogue']);
});

afterAll(() => services.stop());

async function seed(...options: string[]): Promise<{ done: number; total: number; added: number }[]> {
  const program = new URL('../src/seed.ts', import.meta.url).pathname;
  const env = { DATABASE_URL: services.database.urls.catalogue, SHOP_CURRENCY: 'EUR' };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...options], { env });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const pool = () => services.service('catalogue').database;
const count = async () => (await pool().query('SELECT count(*)::int AS n FROM products')).rows[0].n;

describe('seed', () => {
  it('fills the demo once', async () => {
    expect((await seed('--demo')).at(-1)).toEqual({ done: 300, total: 300, added: 300 });
    expect(await seed('--demo')).toEqual([]);
    expect(await count()).toBe(300);
  });

  it('adds products with progress, their stock in the book', async () => {
    const lines = await seed('--products', '12000', '--seed', '7');
    expect(lines.at(-1)).toEqual({ done: 12_000, total: 12_000, added: 12_000 });
    expect(lines.length).toBeGreaterThan(1);
    expect(await count()).toBe(12_300);
    const { rows } = await pool().query(
      `SELECT count(*) FILTER (WHERE rating_tenths IS NULL) / count(*)::float8 AS unrated,
              count(DISTINCT brand)::int AS brands, count(DISTINCT status)::int AS statuses,
              sum(stock)::int = (SELECT sum(quantity)::int FROM stock_ledger) AS booked
       FROM products`,
    );
    expect(rows[0]).toMatchObject({ statuses: 4, booked: true });
    expect(rows[0].brands).toBeGreaterThan(100);
    expect(rows[0].unrated).toBeCloseTo(1 / 12, 1);
  });

  it('makes the same products of the same seed, and says which of them were new', async () => {
    const again = await seed('--products', '12000', '--seed', '7');
    expect(again.at(-1)).toEqual({ done: 12_000, total: 12_000, added: 0 });
    expect(await count()).toBe(12_300);
  });

  it('shows them as the contract says', async () => {
    const answer = await services.service('catalogue').client.get('/v1/products?limit=100&sort=rating:desc');
    expect(answer.body.items).toHaveLength(100);
  });

  it.each([[], ['--products', 'many'], ['--products', '0']])('refuses %j', async (...options) => {
    await expect(seed(...options)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('--products N') });
  });
});
