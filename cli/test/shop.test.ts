// `npm run shop -- …` on a stopped shop and on an outside database; exit codes and what it says to wrong arguments.
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lockFolder, startEmbeddedPostgres } from '@shop/shared/embedded';
import { createTestDatabase } from '@shop/shared/testing';
import { runShop } from './started-shop.ts';

const longEnough = 60_000;

let folder: string;
let dataDir: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-line-'));
  await chmod(folder, 0o711); // run by root, PostgreSQL runs as another user, who must get through
  dataDir = join(folder, 'data');
}, longEnough);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('without a shop', () => {
  it('says where it looked and what to do', async () => {
    expect(await runShop(dataDir, 'staff', 'list')).toEqual({
      code: 1,
      output: '',
      complaints: `there is no shop in ${dataDir}: run npm start, or set SHOP_DATA_DIR or DATABASE_URL\n`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('shows by its exit code that nothing runs', async () => {
    const status = await runShop(dataDir, 'status', '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.output)).toEqual({ running: false, ready: false, data: dataDir, processes: [] });
  });
});

describe('wrong arguments', () => {
  it.each([
    [['staff', 'grant'], "missing required argument 'email'", 'staff grant [options] <email> <scope...>'],
    [
      ['staff', 'grant', 'a@b.example'],
      "missing required argument 'scope'",
      'staff grant [options] <email> <scope...>',
    ],
    [
      ['staff', 'revoke', 'a@b.example', 'orders:everything'],
      /'orders:everything' is invalid .* catalogue:write, orders:fulfil, orders:read-all/,
      'staff revoke [options] <email> <scope...>',
    ],
    [['staff', 'list', 'all'], 'too many arguments', 'staff list [options]'],
    [['keys', 'revoke'], "missing required argument 'kid'", 'keys revoke [options] <kid>'],
    [['seed'], "required option '--products <n>' not specified", 'seed [options]'],
    [['seed', '--products', '1e3'], 'It must be a whole number from 1 to 50000000', 'seed [options]'],
    [['seed', '--products', '0'], 'It must be a whole number from 1 to 50000000', 'seed [options]'],
    [['sead'], /unknown command 'sead'/, '[options] [command]'],
    [['status', '--jsn'], /unknown option '--jsn'/, 'status [options]'],
  ])('%j: one line, the usage, exit code 2', async (parameters, expected, usage) => {
    const { code, output, complaints } = await runShop(dataDir, ...parameters);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(complaints).toMatch(expected);
    expect(complaints.trimEnd().split('\n').at(-1)).toBe(`Usage: npm run shop -- ${usage}`);
  });

  it.each([[[]], [['staff']], [['staff', 'grant']], [['keys']], [['seed']], [['status']]])(
    '%j --help explains and exits with 0',
    async (parameters) => {
      const { code, output, complaints } = await runShop(dataDir, ...parameters, '--help');
      expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
      expect(output).toMatch(/^Usage: npm run shop -- /);
    },
  );
});

describe('a stopped shop', () => {
  beforeAll(async () => {
    await (await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), durable: true })).stop();
  }, longEnough);

  it(
    'gets products, and is stopped again',
    async () => {
      const { code, output } = await runShop(dataDir, 'seed', '--products', '1234', '--json');
      expect(code).toBe(0);
      expect(JSON.parse(output)).toMatchObject({ products: 1234 });
      expect(await readdir(dataDir)).not.toContain('lock');
      expect(await readdir(join(dataDir, 'postgres', 'cluster'))).not.toContain('postmaster.pid');
    },
    longEnough,
  );

  it(
    'has no account to grant anything to',
    async () => {
      expect(await runShop(dataDir, 'staff', 'grant', 'nobody@shop.example', 'orders:fulfil')).toEqual({
        code: 1,
        output: '',
        complaints: 'there is no account with the e-mail nobody@shop.example\n',
      });
    },
    longEnough,
  );

  it(
    'rotates and lists its keys',
    async () => {
      const rotated = await runShop(dataDir, 'keys', 'rotate', '--json');
      expect(rotated).toMatchObject({ code: 0, complaints: '' });
      const states = (JSON.parse(rotated.output) as { state: string }[]).map(({ state }) => state);
      expect(states.filter((state) => state === 'current')).toHaveLength(1);
      expect((await runShop(dataDir, 'keys', 'list')).output).toMatch(/^KEY +STATE +PUBLISHED +MADE\n/);
      expect(await runShop(dataDir, 'keys', 'revoke', 'unknown')).toMatchObject({
        code: 1,
        complaints: 'there is no signing key unknown\n',
      });
    },
    longEnough,
  );

  it('is left alone while something else has its folder', async () => {
    const lock = await lockFolder(dataDir);
    try {
      const { code, complaints } = await runShop(dataDir, 'staff', 'list');
      expect(code).toBe(1);
      expect(complaints).toBe(
        `${dataDir} is in use by process ${process.pid}, which starts or stops the shop: try again in a moment\n`,
      );
    } finally {
      await lock.release();
    }
  });
});

describe('a database that DATABASE_URL names', () => {
  it(
    'is worked on as the roles that own its schemas',
    async () => {
      const database = await createTestDatabase(['accounts', 'catalogue']);
      try {
        const seeded = await runShop(dataDir, { DATABASE_URL: database.adminUrl }, 'seed', '--products', '10');
        expect(seeded).toMatchObject({ code: 0 });
        const staff = await runShop(dataDir, { DATABASE_URL: database.adminUrl }, 'staff', 'list');
        expect(staff).toMatchObject({ code: 0, output: expect.stringMatching(/^Nobody has scopes yet/) });
      } finally {
        await database.drop();
      }
    },
    longEnough,
  );

  it(
    'may be away',
    async () => {
      const { code, complaints } = await runShop(
        dataDir,
        { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/shop' },
        'staff',
        'list',
      );
      expect(code).toBe(1);
      expect(complaints.trimEnd().split('\n')).toHaveLength(1);
      expect(complaints).not.toContain(' at ');
    },
    longEnough,
  );
});
