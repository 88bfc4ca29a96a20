// `npm run shop -- …` on a stopped shop and on an outside database: exit codes, and messages for wrong arguments.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts, lockFolder, startEmbeddedPostgres } from '@shop/shared/embedded';
import { serviceNames } from '@shop/shared/shop';
import { createTestDatabase } from '@shop/shared/testing';
import { runShop } from './started-shop.ts';

let folder: string;
let dataDir: string;
let port: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-line-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  port = String((await freePorts(1))[0]);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('without a shop', () => {
  it('a command without a shop names the searched folder and the remedy', async () => {
    expect(await runShop(dataDir, 'staff', 'list')).toEqual({
      code: 1,
      output: '',
      complaints: `there is no shop in ${dataDir}: run npm start, or set SHOP_DATA_DIR or DATABASE_URL\n`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('the exit code of status shows that no shop runs', async () => {
    const status = await runShop(dataDir, 'status', '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.output)).toEqual({
      running: false,
      ready: false,
      data: dataDir,
      processes: [],
      advice: [`No shop runs on ${dataDir}: run npm start, or set SHOP_DATA_DIR.`],
    });
  });

  it('the doctor checks the existing parts of a stopped shop', async () => {
    const { code, output } = await runShop(dataDir, { GATEWAY_PORT: port }, 'doctor');
    expect(code).toBe(0);
    expect(output).toMatch(/^shop +warning +there is none in .* yet$/m);
    expect(output).toMatch(/^shop: npm start makes one$/m);
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
    [['products', 'import'], "missing required argument 'file'", 'products import [options] <file>'],
    [['products', 'import', 'a', '--format', 'xml'], /'xml' is invalid/, 'products import [options] <file>'],
    [['products', 'export'], "missing required argument 'file'", 'products export [options] <file>'],
    [['orders', 'list', '--limit', '0'], 'It must be a whole number from 1 to 1000', 'orders list [options]'],
    [['orders', 'list', '--status', 'lost'], /'lost' is invalid/, 'orders list [options]'],
    [['orders', 'list', '--account', 'ada'], 'It must be the id of an account', 'orders list [options]'],
    [['orders', 'ship', '4711'], 'It must be the id of an order', 'orders ship [options] <order...>'],
    [['backup'], "missing required argument 'folder'", 'backup [options] <folder>'],
    [['restore'], "missing required argument 'folder'", 'restore [options] <folder>'],
    [['completion', 'fish'], /'fish' is invalid/, 'completion [options] <shell>'],
    [['sead'], /unknown command 'sead'/, '[options] [command]'],
    [['status', '--jsn'], /unknown option '--jsn'/, 'status [options]'],
  ])('the command %j prints one line and the usage, and exits with 2', async (parameters, expected, usage) => {
    const { code, output, complaints } = await runShop(dataDir, ...parameters);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(complaints).toMatch(expected);
    expect(complaints.trimEnd().split('\n').at(-1)).toBe(`Usage: npm run shop -- ${usage}`);
  });

  it.each([[[]], [['staff']], [['staff', 'grant']], [['keys']], [['seed']], [['status']]])(
    'the command %j --help prints the help and exits with 0',
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
  });

  it('the command line starts a stopped shop, gets products, and stops the shop again', async () => {
    const { code, output } = await runShop(dataDir, 'seed', '--products', '1234', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ products: 1234, present: 0 });
    expect(await readdir(dataDir)).not.toContain('lock');
    expect(await readdir(join(dataDir, 'postgres', 'cluster'))).not.toContain('postmaster.pid');
  });

  it('the command seed reports the products that exist already', async () => {
    const again = async (...products: string[]) =>
      (await runShop(dataDir, 'seed', '--seed', '7', '--products', ...products)).output;
    expect(await again('5')).toMatch(/^Added 5 products, \d+ a second\.\n$/);
    expect(await again('5')).toMatch(/^Added 0 products; 5 were there already\.\n$/);
  });

  it('the command staff grant rejects an e-mail address without an account', async () => {
    expect(await runShop(dataDir, 'staff', 'grant', 'nobody@shop.example', 'orders:fulfil')).toEqual({
      code: 1,
      output: '',
      complaints: 'there is no account with the e-mail nobody@shop.example: it has to be registered first\n',
    });
  });

  it('the command accounts verify-email rejects an e-mail address without an account', async () => {
    expect(await runShop(dataDir, 'accounts', 'verify-email', 'nobody@shop.example')).toEqual({
      code: 1,
      output: '',
      complaints: 'there is no account with the e-mail nobody@shop.example: it has to be registered first\n',
    });
  });

  it('the command accounts announce counts the accounts', async () => {
    expect(await runShop(dataDir, 'accounts', 'announce')).toEqual({
      code: 0,
      output: '0 accounts are announced\n',
      complaints: '',
    });
  });

  it('the command keys rotates and lists the keys', async () => {
    const rotated = await runShop(dataDir, 'keys', 'rotate', '--json');
    expect(rotated).toMatchObject({ code: 0, complaints: '' });
    const states = (JSON.parse(rotated.output) as { state: string }[]).map(({ state }) => state);
    expect(states.filter((state) => state === 'current')).toHaveLength(1);
    expect((await runShop(dataDir, 'keys', 'list')).output).toMatch(/^KEY +STATE +PUBLISHED +MADE\n/);
    expect(await runShop(dataDir, 'keys', 'revoke', 'unknown')).toMatchObject({
      code: 1,
      complaints: 'there is no signing key unknown: npm run shop -- keys list shows those that are there\n',
    });
  });

  it('the command products imports a file of the folder in which npm was called, and exports the products again', async () => {
    const good = { externalKey: 'CUP', name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5, stock: 3 };
    await writeFile(join(folder, 'cups.ndjson'), `${JSON.stringify(good)}\n{"externalKey":"LID"}\n`);
    const called = { INIT_CWD: folder };
    const { code, output } = await runShop(dataDir, called, 'products', 'import', 'cups.ndjson');
    const report = join(folder, 'cups.ndjson.refused.ndjson');
    expect({ code, output }).toEqual({
      code: 3,
      output: expect.stringMatching(
        /^1 product is new, .*\n1 line was refused\. .* in .*: correct them and import again\.\n$/,
      ),
    });
    expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ line: 2, externalKey: 'LID' });
    const again = await runShop(dataDir, called, 'products', 'import', 'cups.ndjson', '--refused', 'r', '--json');
    expect(JSON.parse(again.output)).toMatchObject({
      created: 0,
      unchanged: 1,
      refused: 1,
      report: join(folder, 'r'),
    });
    expect(await runShop(dataDir, called, 'products', 'export', 'all.csv')).toEqual({
      code: 0,
      output: `Wrote 1240 products into ${join(folder, 'all.csv')}.\n`,
      complaints: '',
    });
    expect((await stat(join(folder, 'all.csv'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'all.csv'), 'utf8')).toContain(
      '\nCUP,Cup,,Acme,kitchen,4.50,EUR,,available,3,,[],{},,,,\n',
    );
    expect(await runShop(dataDir, 'products', 'import', join(folder, 'none.csv'))).toMatchObject({
      code: 1,
      complaints: `cannot read ${join(folder, 'none.csv')} (ENOENT)\n`,
    });
  });

  it('the command products history shows the changes of a product with their author', async () => {
    const { code, output } = await runShop(dataDir, 'products', 'history', 'CUP');
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(
        /^TIME +BY +REASON +CHANGES\n\S+Z +operator +name: none → "Cup", .*price: none → 4.5/,
      ),
    });
    const listed = await runShop(dataDir, 'products', 'history', 'CUP', '--limit', '1', '--json');
    expect(JSON.parse(listed.output)).toMatchObject([{ by: 'operator', staffId: null }]);
    expect(await runShop(dataDir, 'products', 'history', 'LID')).toMatchObject({
      code: 1,
      complaints: 'there is no product with the sku or the id LID\n',
    });
  });

  it('the command status shows the events that wait for the next start', async () => {
    const { code, output } = await runShop(dataDir, 'status');
    expect(code).toBe(1);
    expect(output).toMatch(/^OUTBOX +WAITING +OLDEST\naccounts +0 +0 s\n/);
    expect(output).toMatch(/\n\nNo shop runs on .*: run npm start, or set SHOP_DATA_DIR\.\n$/);
  });

  it('the command doctor states a remedy for each fault', async () => {
    await chmod(join(dataDir, 'secrets.json'), 0o644);
    const wrong = {
      GATEWAY_PORT: port,
      MAIL_FROM: 'nobody',
      KEY_ENCRYPTION_SECRET: 'x'.repeat(40),
      SHOP_CURRENCY: 'USD',
    };
    const { code, output } = await runShop(dataDir, wrong, 'doctor', '--json');
    await chmod(join(dataDir, 'secrets.json'), 0o600);
    const { well, findings } = JSON.parse(output) as { well: boolean; findings: Record<string, string>[] };
    expect({ code, well }).toEqual({ code: 1, well: false });
    expect(findings.filter(({ state }) => state === 'failed')).toEqual([
      expect.objectContaining({
        check: 'configuration',
        detail: expect.stringMatching(/^MAIL_FROM must be .* \(notifications\)$/),
      }),
      expect.objectContaining({ check: 'secrets', remedy: `chmod 600 ${join(dataDir, 'secrets.json')}` }),
      expect.objectContaining({ check: 'currency', remedy: 'set SHOP_CURRENCY=EUR' }),
      expect.objectContaining({ check: 'signing keys', remedy: expect.stringContaining('KEY_ENCRYPTION_SECRET') }),
    ]);
    const badly = await runShop(dataDir, { GATEWAY_PORT: 'x' }, 'doctor');
    expect(badly.code).toBe(1);
    expect(badly.output).toMatch(/^configuration +failed +GATEWAY_PORT must be a whole number/m);
  });

  it('a command is rejected while another process has locked the folder of the shop', async () => {
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
  it('a database that DATABASE_URL names is accessed as the roles that own its schemas', async () => {
    const database = await createTestDatabase(['accounts', 'catalogue']);
    try {
      const seeded = await runShop(dataDir, { DATABASE_URL: database.adminUrl }, 'seed', '--products', '10');
      expect(seeded).toMatchObject({ code: 0 });
      const staff = await runShop(dataDir, { DATABASE_URL: database.adminUrl }, 'staff', 'list');
      expect(staff).toMatchObject({ code: 0, output: expect.stringMatching(/^No account has scopes/) });
    } finally {
      await database.drop();
    }
  });

  it("a database that DATABASE_URL names is accessed with the services' own connections, without an administrator", async () => {
    const database = await createTestDatabase(serviceNames);
    const { events, ...urls } = database.urls;
    const named = Object.entries(urls).map(([name, url]) => [`${name.toUpperCase()}_DATABASE_URL`, url]);
    const environment = { ...Object.fromEntries(named), EVENTS_URL: events };
    try {
      expect(await runShop('/nowhere', environment, 'seed', '--products', '10')).toMatchObject({ code: 0 });
      expect(await runShop('/nowhere', environment, 'stock', 'verify')).toMatchObject({
        code: 0,
        output: expect.stringMatching(/^All adds up: 10 products, /),
      });
      expect(await runShop('/nowhere', environment, 'orders', 'list')).toMatchObject({ code: 0 });
      expect(await runShop('/nowhere', environment, 'events', 'dead', 'list')).toMatchObject({ code: 0 });
      const { EVENTS_URL: _events, ...without } = environment;
      expect(await runShop('/nowhere', without, 'orders', 'list')).toMatchObject({
        code: 1,
        complaints: 'set EVENTS_URL, too: the address of the events\n',
      });
    } finally {
      await database.drop();
    }
  });

  it('a database that DATABASE_URL names is not backed up when the services have databases of their own', async () => {
    const [first, second] = [await createTestDatabase(serviceNames), await createTestDatabase(['orders'])];
    const named = serviceNames.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, first.urls[name]]);
    const environment = {
      ...Object.fromEntries(named),
      ORDERS_DATABASE_URL: second.urls.orders,
      EVENTS_URL: first.urls.events,
    };
    try {
      const backup = await runShop('/nowhere', environment, 'backup', join(folder, 'divided'));
      expect(backup).toEqual({
        code: 1,
        output: '',
        complaints: 'the services have databases of their own: back up each of them with pg_dump\n',
      });
    } finally {
      await first.drop();
      await second.drop();
    }
  });

  it('a database that DATABASE_URL names is reported in one line when it is unavailable', async () => {
    const { code, complaints } = await runShop(
      dataDir,
      { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/shop' },
      'staff',
      'list',
    );
    expect(code).toBe(1);
    expect(complaints.trimEnd().split('\n')).toHaveLength(1);
    expect(complaints).not.toContain(' at ');
  });
});

describe('completion', () => {
  it('the completion script completes commands, options, closed lists and files in bash, and runs the shop from any folder', async () => {
    const { output } = await runShop(dataDir, 'completion', 'bash');
    await writeFile(join(folder, 'completion.sh'), output);
    const script = `
      source completion.sh
      try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shop; echo "\${COMPREPLY[*]}"; }
      try shop pro; try shop orders ''; try shop orders list --st; try shop orders list --status d
      try shop events dead re; try shop restore completion.s; shop keys --help | head -1`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder });
    expect(stdout.split('\n')).toEqual([
      'products',
      'list show count refunds process ship deliver cancel',
      '--status',
      'delivered',
      'replay',
      'completion.sh',
      'Usage: npm run shop -- keys [options] [command]',
      '',
    ]);
  });

  it('the completion script completes the same in zsh', async () => {
    const { output } = await runShop(dataDir, 'completion', 'zsh');
    expect(output).toMatch(/^compdef _shop shop$/m);
    expect(output).toContain(`'show:show an order'\\''s lines and history'`);
    expect(output).toContain(`'catalogue\\:write'`);
  });
});
