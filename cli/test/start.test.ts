// `npm start`: the whole shop in a temporary data folder, its stops, and its refusals.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { serviceNames } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import type { RunningShop } from '../src/shop/data-folder.ts';
import { launchShop, processIdOf, runningShop, runShop, type StartedShop, stillListening } from './started-shop.ts';

let folder: string;
let dataDir: string;
const shops: StartedShop[] = [];

const launch = async (environment: Record<string, string> = {}, dir = dataDir): Promise<StartedShop> => {
  const shop = await launchShop({ dataDir: dir, environment });
  shops.push(shop);
  return shop;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-start-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
});

afterEach(async () => {
  await Promise.all(shops.splice(0).map((shop) => shop.end()));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('a first start', () => {
  it('a first start prints a table, has a demo catalogue and private secrets, and leaves nothing running after Ctrl-C', async () => {
    const shop = await launch();
    const table = await shop.ready;
    for (const name of ['gateway', ...serviceNames, 'postgresql']) {
      expect(table).toMatch(new RegExp(`^ +${name} +\\S`, 'm'));
    }
    for (const [name, address] of [
      ['documentation', '/docs'],
      ['board', '/board'],
    ] as const) {
      expect(table).toContain(`${name.padEnd(13)}  ${shop.gateway}${address}\n`);
      expect((await fetch(`${shop.gateway}${address}`)).status).toBe(200);
    }
    const [, emails = ''] = /^ {2}e-mails {8}(\S+) \(files in (.*)\)$/m.exec(table) ?? [];
    expect(emails).toMatch(new RegExp(`^${shop.gateway}/mail\\?key=[\\w-]{43}$`));
    expect((await fetch(emails)).status).toBe(200);
    expect((await fetch(`${shop.gateway}/mail`)).status).toBe(403);
    expect(shop.output()).toContain('start: PostgreSQL starts\nstart: the schemas are brought up to date\n');
    expect((await fetch(`${shop.gateway}/health/ready`)).status).toBe(200);
    const page = (await (await fetch(`${shop.gateway}/v1/products?limit=100`)).json()) as { items: unknown[] };
    expect(page.items).toHaveLength(100);
    const origin = 'http://localhost:5173';
    const { headers } = await fetch(`${shop.gateway}/v1/products?limit=1`, { headers: { Origin: origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    for (const name of ['secrets.json', 'running.json', 'postgres/password', 'logs/orders.log']) {
      expect([name, (await stat(join(dataDir, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
    const running = await runningShop(dataDir);
    // The gateway, the services and PostgreSQL.
    expect(await stillListening(running)).toHaveLength(serviceNames.length + 2);

    expect((await shop.end('SIGINT')).code).toBe(0);
    expect(await stillListening(running)).toEqual([]);
    expect(await readdir(dataDir)).not.toContain('lock');
    expect(await readdir(dataDir)).not.toContain('running.json');
  });
});

describe('a start on kept data', () => {
  let shop: StartedShop;
  let running: RunningShop;
  let secrets: string;
  let products: string;
  beforeAll(async () => {
    secrets = await readFile(join(dataDir, 'secrets.json'), 'utf8');
    shop = await launchShop({ dataDir });
    products = await shop.ready;
    running = await runningShop(dataDir);
  });
  afterAll(() => shop.end());

  it('a start on kept data has the same catalogue and secrets, and a second start on the folder is rejected in one line', async () => {
    const productId = /"productId":"([^"]+)"/.exec(products)?.[1];
    expect((await fetch(`${shop.gateway}/v1/products/${productId}`)).status).toBe(200);
    expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).toBe(secrets);

    const { code, complaints } = await (await launch()).ended;
    expect(code).toBe(1);
    expect(complaints).toBe(`${dataDir} is in use by process ${shop.child.pid}\n`);
    expect((await fetch(`${shop.gateway}/health/ready`)).status).toBe(200);
  });

  it('a start on kept data restarts a service that died, and PostgreSQL, with a line for each', async () => {
    process.kill(await processIdOf(dataDir, 'catalogue'), 'SIGKILL');
    await eventually(() => {
      expect(shop.output()).toContain('catalogue: ended (signal SIGKILL); starting it again in 0.5 s\n');
      expect(shop.output()).toContain('catalogue: is ready again\n');
    }, 30_000);
    expect((await fetch(`${shop.gateway}/v1/products`)).status).toBe(200);

    const [postmaster] = (await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(postmaster), 'SIGKILL');
    await eventually(() => expect(shop.output()).toContain('postgresql: is ready again\n'), 30_000);
    await eventually(
      async () => expect((await fetch(`${shop.gateway}/v1/products?status=active`)).status).toBe(200),
      30_000,
    );
    expect((await runningShop(dataDir)).databases).toEqual(running.databases);
  });

  it('the shop continues when its output is closed, and leaves no process after SIGTERM', async () => {
    shop.child.stdout?.destroy();
    shop.child.stderr?.destroy();
    const killed = await processIdOf(dataDir, 'orders');
    process.kill(killed, 'SIGKILL');
    await eventually(async () => {
      expect(await processIdOf(dataDir, 'orders')).not.toBe(killed);
      expect((await fetch(`${shop.gateway}/health/ready`)).status).toBe(200);
    }, 30_000);

    expect((await shop.end('SIGTERM')).code).toBe(0);
    expect(await stillListening(running)).toEqual([]);
    expect(await readdir(dataDir)).not.toContain('lock');
  });
});

describe('a launcher that is killed', () => {
  it('a launcher that is killed is replaced by the next start', async () => {
    const first = await launch();
    await first.ready;
    const running = await runningShop(dataDir);
    first.child.kill('SIGKILL');
    const second = await launch({ GATEWAY_PORT: new URL(first.gateway).port });
    await second.ready;
    expect((await fetch(`${second.gateway}/v1/products`)).status).toBe(200);

    second.child.kill('SIGKILL');
    await eventually(async () => expect(await stillListening(running)).toEqual([]), 20_000);
    await eventually(async () => expect(await stillListening(await runningShop(dataDir))).toEqual([]), 20_000);
  });
});

describe('a start', () => {
  it('a start listens on the address of GATEWAY_HOST alone, where the command line finds it', async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const { address } = addresses.find(({ family, internal }) => family === 'IPv4' && !internal) ?? {
      address: '127.0.0.2',
    };
    const shop = await launch({ GATEWAY_HOST: address });
    const gateway = `http://${address}:${new URL(shop.gateway).port}`;
    const table = await shop.ready;
    expect(table).toContain(`documentation  ${gateway}/docs\n`);
    // The pages of the e-mails are for clients on this machine only.
    expect(table).toContain(`e-mails        files in ${join(dataDir, 'mail')}\n`);
    expect((await fetch(`${gateway}/health/ready`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${new URL(shop.gateway).port}`)).rejects.toThrow('fetch failed');
    expect(await runShop(dataDir, 'status')).toMatchObject({ code: 0 });
  });

  it('a start can be stopped during the start', async () => {
    const shop = await launch();
    await eventually(
      async () => expect(await readFile(join(dataDir, 'postgres/lock'), 'utf8')).toMatch(`${shop.child.pid} `),
      20_000,
    );
    expect(await shop.end('SIGTERM')).toMatchObject({ code: 0, complaints: '' });
    expect(await readdir(join(dataDir, 'postgres'))).not.toContain('lock');
    expect(await readdir(dataDir)).not.toContain('lock');
  });
});

describe('a shop whose data folder is deleted', () => {
  it('a shop with a deleted data folder stops, reports the missing folder, and creates nothing in its place', async () => {
    const dir = join(folder, 'deleted');
    const shop = await launch({}, dir);
    await shop.ready;
    await rm(dir, { recursive: true });
    const { code, complaints } = await shop.ended;
    expect(code).toBe(1);
    expect(complaints).toMatch(`${join(dir, 'postgres')} is gone: it was deleted while the shop ran`);
    expect(await readdir(folder)).not.toContain('deleted');
  });
});

describe('a start on an outside PostgreSQL', () => {
  it('a start on an outside PostgreSQL creates the database that DATABASE_URL names, and starts no server of its own', async () => {
    const server = await startEmbeddedPostgres({ dataDir: join(folder, 'server'), durable: false });
    try {
      const url = Object.assign(new URL(server.url), { pathname: '/bazaar' }).href;
      const dir = join(folder, 'outside');
      const shop = await launch({ DATABASE_URL: url }, dir);
      expect(await shop.ready).toContain(`127.0.0.1:${server.port}, database bazaar`);
      expect((await fetch(`${shop.gateway}/v1/products`)).status).toBe(200);
      expect(await readdir(dir)).not.toContain('postgres');
      // The processes get their own roles' connections, never the administrator's.
      expect(JSON.stringify(await runningShop(dir))).not.toContain(new URL(server.url).password);
      await shop.end();
    } finally {
      await server.stop();
    }
  });
});

describe('a start that fails', () => {
  const refusal = async (environment: Record<string, string>, dir = dataDir): Promise<string> => {
    const shop = await launch(environment, dir);
    const { code, output, complaints } = await shop.ended;
    const others = output.split('\n').filter((line) => line !== '' && !line.startsWith('start: '));
    expect({ code, others }).toEqual({ code: 1, others: [] });
    return complaints;
  };

  it('a start that fails reports that the port is taken', async () => {
    const [port = 0] = await freePorts(1);
    const taken = createServer().listen(port, '127.0.0.1');
    await once(taken, 'listening');
    try {
      expect(await refusal({ GATEWAY_PORT: String(port) })).toBe(
        `port ${port} is taken: set GATEWAY_PORT to another one\n`,
      );
    } finally {
      taken.close();
    }
  });

  it('a start that fails reports that the data folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await refusal({}, join(folder, 'file'))).toBe(
      `cannot write to the data folder ${join(folder, 'file')} (EEXIST)\n`,
    );
  });

  it.each([
    [{ GATEWAY_PORT: '65536' }, /\n {2}GATEWAY_PORT must be a whole number from 1 to 65535, not "65536" \(shop\)\n$/],
    [{ EVENTS_URL: 'kafka' }, /\n {2}EVENTS_URL must be a URL that starts with amqp:\/\/ .* \(shop\)\n$/],
    [
      { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/shop' },
      /^cannot prepare the database on 127\.0\.0\.1:1: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
    ],
  ])('a start that fails names the fault of %j', async (environment, expected) => {
    expect(await refusal(environment)).toMatch(expected);
  });

  it('a start that fails rejects arguments', async () => {
    const file = fileURLToPath(new URL('../src/start.ts', import.meta.url));
    await expect(
      promisify(execFile)(process.execPath, [file, '--help'], {
        env: { ...process.env, SHOP_DATA_DIR: join(folder, 'unused') },
        timeout: 30_000,
      }),
    ).rejects.toMatchObject({
      code: 1,
      stderr: 'npm start and npm run dev take no arguments, and got: --help\n',
    });
  });

  it('a start that fails names a process that cannot start, and leaves nothing running', async () => {
    expect(await refusal({ MAIL_DIR: '/dev/null/mail' })).toBe(
      'notifications: cannot write to the mail folder /dev/null/mail (ENOTDIR)\n',
    );
    expect(await readdir(join(dataDir, 'postgres'))).not.toContain('lock');
  });
});
