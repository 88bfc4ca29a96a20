// The gauges of the units that accounts hold, as Prometheus reads them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';

let services: TestServices;
let port: number;

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  services = await startServices(['catalogue']);
});
afterAll(() => services?.stop());

async function gauges(): Promise<string[]> {
  const catalogue = services.service('catalogue');
  await catalogue.restart({ METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  return eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = [...text.matchAll(/^shop_(holds_\w+)\{.*\} (\S+)$/gm)].map(([, name, value]) => `${name} ${value}`);
    expect(lines).toHaveLength(3);
    return lines.sort();
  });
}

it('are 0 while no account holds anything', async () => {
  expect(await gauges()).toEqual(['holds_accounts 0', 'holds_largest_orders 0', 'holds_largest_units 0']);
});

it('count the accounts with such orders, and show the most that one of them has', async () => {
  await services.service('catalogue').database.query(
    `INSERT INTO account_holds (account_id, orders, units)
       VALUES (gen_random_uuid(), 2, 30), (gen_random_uuid(), 7, 9), (gen_random_uuid(), 0, 0)`,
  );
  expect(await gauges()).toEqual(['holds_accounts 2', 'holds_largest_orders 7', 'holds_largest_units 30']);
});
