// `npm run dev`: a running shop restarts the processes whose source files change.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { copyCheckout } from '../../test/outages/copy-checkout.ts';
import { processesOf } from '../src/launcher/watch-sources.ts';
import { launchShop, processIdOf, type StartedShop } from './started-shop.ts';

describe('processes that read a file', () => {
  it.each([
    ['shared/src/http/create-app.ts', ['gateway', ...serviceNames]],
    ['services/orders/src/get-order.ts', ['orders']],
    ['services/orders/openapi.yaml', ['gateway', 'orders']],
    ['gateway/plugin/limits/rate-limit.ts', ['gateway']],
    ['docs/errors.md', ['gateway']],
  ])('are named for %s', (path, processes) => {
    expect(processesOf(path)).toEqual(processes);
  });

  it.each([
    'services/orders/test/get-order.test.ts',
    'services/orders/migrations/0001_orders.sql',
    'shared/src/testing/pace.ts',
    'services/orders/src/.get-order.ts.swp',
    'bench/main.ts',
  ])('are none for %s', (path) => {
    expect(processesOf(path)).toEqual([]);
  });
});

/** Milliseconds within which a process ends and is ready again. */
const restartsWithin = 30_000;

describe('a shop started by npm run dev', () => {
  let checkout: string;
  let shop: StartedShop;

  beforeAll(async () => {
    checkout = copyCheckout();
    await chmod(checkout, 0o711); // PostgreSQL runs as another user when root runs the tests
    const command = [process.execPath, 'cli/src/start.ts', '--watch'] as const;
    shop = await launchShop({ dataDir: join(checkout, '.data'), checkout, command: [...command] });
    await shop.ready;
    await eventually(() => expect(shop.output()).toContain('Watching the source files'));
  });

  afterAll(async () => {
    await shop.end();
    rmSync(checkout, { recursive: true, force: true });
  });

  const answer = async (): Promise<string> => {
    const response = await fetch(`${shop.gateway}/v1/products/00000000-0000-7000-8000-000000000000`);
    return ((await response.json()) as { detail: string }).detail;
  };

  it('restarts the service whose file changed, names the file, and leaves the others running', async () => {
    const orders = await processIdOf(shop.dataDir, 'orders');
    const file = join(checkout, 'services/catalogue/src/product.ts');
    const source = readFileSync(file, 'utf8');
    const before = await answer();
    expect(source).toContain(before);
    writeFileSync(file, source.replace(before, 'This text is new.'));
    await eventually(async () => expect(await answer()).toBe('This text is new.'), restartsWithin);
    expect(shop.output()).toContain('catalogue: restarting: services/catalogue/src/product.ts changed');
    expect(await processIdOf(shop.dataDir, 'orders')).toBe(orders);
  });

  it('reports why a changed file cannot run, and recovers when the file is corrected', async () => {
    const file = join(checkout, 'services/orders/src/operations.ts');
    const source = readFileSync(file, 'utf8');
    appendFileSync(file, 'const = 1;\n');
    await eventually(() => expect(shop.output()).toMatch(/orders: cannot be used: .*SyntaxError/), restartsWithin);
    writeFileSync(file, source);
    await eventually(
      async () => expect((await fetch(`${shop.gateway}/health/ready`)).status).toBe(200),
      restartsWithin,
    );
  });
});
