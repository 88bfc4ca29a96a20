// `npm run dev`: a running shop restarts the processes whose source files change.
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import { copyCheckout } from '../../test/faults/outages/copy-checkout.ts';
import { findProcesses, watchSources } from '../src/launcher/watch-sources.ts';
import { launchShop, processIdOf, type StartedShop } from './started-shop.ts';

describe('processes that read a file', () => {
  it.each([
    ['shared/src/http/create-app.ts', ['gateway', ...serviceNames]],
    ['services/orders/src/operations/get-order.ts', ['orders']],
    ['services/orders/openapi.yaml', ['gateway', 'orders']],
    ['gateway/src/limits/rate-limit.ts', ['gateway']],
    ['web/src/layout.ts', ['gateway']],
    ['docs/errors.md', ['gateway']],
    ['client/src/cart.ts', ['gateway']],
    ['examples/storefront/index.html', ['gateway']],
  ])('the processes that read a file include %s', (path, processes) => {
    expect(findProcesses(path)).toEqual(processes);
  });

  it.each([
    'services/orders/test/get-order.test.ts',
    'services/orders/migrations/0001_orders.sql',
    'shared/src/testing/pace.ts',
    'services/orders/src/.get-order.ts.swp',
    'bench/main.ts',
    'examples/receiver/src/main.ts',
  ])('no process is restarted for the file %s', (path) => {
    expect(findProcesses(path)).toEqual([]);
  });
});

describe('watched sources', () => {
  let root: string;
  let reported: string[] = [];
  let stop: () => void;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'shop-watch-'));
    for (const folder of ['shared', 'services/orders/src', 'gateway', 'web', 'docs', 'client', 'examples'])
      await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, 'services/orders/src/main.ts'), 'first');
    stop = watchSources(root, (files) => reported.push(...files));
  });

  afterAll(async () => {
    stop();
    await rm(root, { recursive: true });
  });

  const isReported = async (file: string): Promise<void> => {
    await eventually(() => expect(reported).toContain(file));
    reported = [];
  };

  it('watched sources report a file each time that another file replaces it', async () => {
    const file = join('services', 'orders', 'src', 'main.ts');
    for (let turn = 0; turn < 3; turn += 1) {
      await writeFile(join(root, 'replacement'), `turn ${turn}`);
      await rename(join(root, 'replacement'), join(root, file));
      await isReported(file);
    }
    await writeFile(join(root, file), 'written');
    await isReported(file);
  });

  it('a file of a folder that is created, moved into the tree, or created again is reported', async () => {
    const folder = join('services', 'orders', 'src', 'new');
    const file = join(folder, 'deep', 'part.ts');
    for (let turn = 0; turn < 2; turn += 1) {
      await mkdir(join(root, folder, 'deep'), { recursive: true });
      await writeFile(join(root, file), `turn ${turn}`);
      await isReported(file);
      await writeFile(join(root, file), 'written');
      await isReported(file);
      await rm(join(root, folder), { recursive: true });
      await isReported(file);
    }
    await mkdir(join(root, 'aside', 'deep'), { recursive: true });
    await writeFile(join(root, 'aside', 'deep', 'part.ts'), 'aside');
    await rename(join(root, 'aside'), join(root, folder));
    await isReported(file);
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

  it('a shop started by npm run dev restarts the service whose file changed, names the file, and leaves the others running', async () => {
    const orders = await processIdOf(shop.dataDir, 'orders');
    const file = join(checkout, 'services/catalogue/src/product/product.ts');
    const source = readFileSync(file, 'utf8');
    const before = await answer();
    expect(source).toContain(before);
    writeFileSync(file, source.replace(before, 'This text is new.'));
    await eventually(async () => expect(await answer()).toBe('This text is new.'), restartsWithin);
    expect(shop.output()).toContain('catalogue: restarting: services/catalogue/src/product/product.ts changed');
    expect(await processIdOf(shop.dataDir, 'orders')).toBe(orders);
  });

  it('a shop started by npm run dev restarts the service each time that another file replaces its file, also after one that cannot run', async () => {
    const file = join(checkout, 'services/catalogue/src/product/product.ts');
    const source = readFileSync(file, 'utf8');
    const before = await answer();
    const replace = (content: string): void => {
      writeFileSync(`${file}.new`, content);
      renameSync(`${file}.new`, file);
    };
    replace(source.replace(before, 'This file replaced one.'));
    await eventually(async () => expect(await answer()).toBe('This file replaced one.'), restartsWithin);
    replace(`${source}\nconst = 1;\n`);
    await eventually(() => expect(shop.output()).toMatch(/catalogue: cannot be used: .*SyntaxError/), restartsWithin);
    replace(source.replace(before, 'This file replaced another.'));
    await eventually(async () => expect(await answer()).toBe('This file replaced another.'), restartsWithin);
  });

  it('a shop started by npm run dev reports why a changed file cannot run, and recovers when the file is corrected', async () => {
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
