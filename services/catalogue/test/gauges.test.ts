// The gauges of the units that accounts hold and of imports over HTTP, as Prometheus reads them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { importLock } from '../src/imports/import-lines.ts';

let services: TestServices;
let port: number;

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  services = await startServices(['catalogue'], { shared: false });
});
afterAll(() => services?.stop());

/** The three gauges whose names begin with `shop_` and `group`. */
async function gauges(group: 'holds' | 'imports'): Promise<Record<string, number>> {
  const catalogue = services.service('catalogue');
  await catalogue.restart({ METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  return eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = [...text.matchAll(new RegExp(`^shop_${group}_(\\w+)\\{.*\\} (\\S+)$`, 'gm'))];
    expect(lines).toHaveLength(3);
    return Object.fromEntries(lines.map(([, name, value]) => [name, Number(value)]));
  });
}

const query = (text: string) => services.service('catalogue').database.query(text);

describe('the gauges of orders that nobody has begun to process', () => {
  it('the gauges of unprocessed orders are 0 while no account has any', async () => {
    expect(await gauges('holds')).toEqual({ accounts: 0, largest_orders: 0, largest_units: 0 });
  });

  it('the gauges of unprocessed orders count the accounts that have any, and show the maximum of one account', async () => {
    await query(
      `INSERT INTO account_holds (account_id, orders, units)
       VALUES (gen_random_uuid(), 2, 30), (gen_random_uuid(), 7, 9), (gen_random_uuid(), 0, 0)`,
    );
    expect(await gauges('holds')).toEqual({ accounts: 2, largest_orders: 7, largest_units: 30 });
  });
});

describe('the gauges of imports', () => {
  it('the gauges of imports are 0 without an import', async () => {
    expect(await gauges('imports')).toEqual({ waiting: 0, age: 0, failed: 0 });
  });

  it('the gauges of imports count the failed ones of an hour and those that wait or run, and show the age of the oldest of these', async () => {
    // The service imports nothing while an operator's import holds the lock.
    const operator = await services.service('catalogue').database.connect();
    try {
      await operator.query('BEGIN');
      await operator.query(`SELECT pg_advisory_xact_lock(${importLock})`);
      await query(
        `INSERT INTO import_jobs (id, status, lines, account_id, request_id, traceparent, created_at, ended_at)
         SELECT gen_random_uuid(), status, 1, gen_random_uuid(), 'request', 'traceparent', now() - began, now() - ended
         FROM (VALUES
           ('waiting', interval '20 minutes', NULL), ('running', interval '40 minutes', NULL),
           ('failed', interval '2 hours', interval '50 minutes'), ('failed', interval '3 hours', interval '70 minutes'),
           ('completed', interval '2 hours', interval '10 minutes')
         ) AS import (status, began, ended)`,
      );
      const { age, ...counts } = await gauges('imports');
      expect(counts).toEqual({ waiting: 2, failed: 1 });
      expect(age).toBeGreaterThanOrEqual(2_400);
      expect(age).toBeLessThan(2_700);
    } finally {
      operator.release(true);
    }
  });
});
