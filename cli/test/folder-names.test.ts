// The shop runs in a checkout whose folder has a name with characters that mean something in URLs and shells.
import { rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyCheckout } from '../../test/faults/outages/copy-checkout.ts';
import { launchShop, runShop, type StartedShop } from './started-shop.ts';

let checkout: string;
let shop: StartedShop;

beforeAll(async () => {
  checkout = copyCheckout(`C# 100%25 %zz? ü'"&; `);
  await chmod(checkout, 0o711); // PostgreSQL runs as another user when root runs the tests
  shop = await launchShop({ dataDir: join(checkout, '.data'), checkout });
  await shop.ready;
});

afterAll(async () => {
  await shop?.end();
  rmSync(checkout, { recursive: true, force: true });
});

describe('a checkout in a folder with #, %, ?, blanks, quotes and letters outside ASCII', () => {
  it('a checkout in a folder with unusual characters starts a shop that serves its API and its pages', async () => {
    for (const path of ['/v1/products', '/v1/openapi.json', '/docs/getting-started', '/board/runbooks', '/problems']) {
      expect([path, (await fetch(`${shop.gateway}${path}`)).status]).toEqual([path, 200]);
    }
  });

  it('a checkout in a folder with unusual characters has a command line that finds the shop, and that quotes the folder in the commands that it prints', async () => {
    expect(await runShop(shop.dataDir, 'doctor')).toMatchObject({ code: 0 });
    const backup = join(checkout, "a backup's #1");
    const { code, output } = await runShop(shop.dataDir, 'backup', backup);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`restore --verify '${backup.replaceAll("'", "'\\''")}'\n`),
    ]);
  });
});
