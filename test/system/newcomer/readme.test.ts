// The first hour of a newcomer: a fresh clone of the last commit, and the commands of README.md as they are written.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually, installPackage } from '@shop/shared/testing';
import { patternOf, type ShellBlock, shellBlocks, withoutNpmLines } from './readme.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const usual = 'http://localhost:8080';

/** The commands of README.md that this test does not run: how they begin → why. */
const notRun: Readonly<Record<string, string>> = {
  'npm ci && npm test': '.ci/run runs all tests',
};

let folder: string;
let checkout: string;
let blocks: readonly ShellBlock[];
let shop: ChildProcess;
let address: string;
let summary = '';

/**
 * The environment of a newcomer: that of this machine, such as its certificates, without what npm and jest set, and
 * without the programs of this checkout on the PATH.
 */
const environment = (): Record<string, string | undefined> => {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_ENV$|NODE_OPTIONS$|JEST_)/.test(name));
  const paths = (process.env.PATH ?? '').split(':').filter((path) => !path.includes('node_modules'));
  return { ...Object.fromEntries(own), PATH: paths.join(':') };
};

/** Runs commands in the clone, with the address of the test's shop. @throws when the last of them fails */
async function shell(commands: string): Promise<string> {
  const script = commands.replaceAll(usual, address);
  const { stdout } = await run('sh', ['-c', script], { cwd: checkout, env: environment(), maxBuffer: 1 << 26 });
  return withoutNpmLines(stdout);
}

beforeAll(async () => {
  await run('curl', ['--version']).catch(() => installPackage('curl'));
  folder = await mkdtemp(join(tmpdir(), 'shop-newcomer-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  checkout = join(folder, 'shop');
  await run('git', ['clone', '--quiet', root, checkout]);
  blocks = shellBlocks(join(checkout, 'README.md'));

  const [port = 0] = await freePorts(1);
  address = `http://localhost:${port}`;
  const [start = ''] = blocks[0]?.commands.split('\n') ?? [];
  // A process group of its own, so that all of it can be interrupted as by Ctrl-C.
  shop = spawn('sh', ['-c', start], {
    cwd: checkout,
    env: { ...environment(), GATEWAY_PORT: String(port) },
    detached: true,
  });
  for (const stream of [shop.stdout, shop.stderr])
    stream?.on('data', (data) => {
      summary += String(data);
    });
  await eventually(() => {
    if (shop.exitCode !== null) throw new Error(`${start} ended: ${summary}`);
    if (!summary.includes('/cancel')) throw new Error(`${start} is not ready: ${summary}`);
  }, 240_000);
});

afterAll(async () => {
  if (shop?.pid !== undefined && shop.exitCode === null) {
    const closed = once(shop, 'close');
    process.kill(-shop.pid, 'SIGINT');
    await closed;
  }
  await rm(folder, { recursive: true, force: true });
});

describe('README.md', () => {
  it('README.md begins with the command that starts the shop, which is then ready', async () => {
    expect(blocks[0]?.commands).toMatch(/^npm ci && npm start {4}# the whole shop at http:\/\/localhost:8080, /);
    expect(summary).toContain('The shop is ready');
    expect(summary).toContain(`  gateway        ${address}\n`);
    expect(summary).toContain(`  data           ${join(checkout, '.data')}\n`);
    expect((await fetch(`${address}/v1/products?limit=1`)).status).toBe(200);
    const [, emails = ''] = /^ {2}e-mails +(\S+)/m.exec(summary) ?? [];
    expect((await fetch(emails)).status).toBe(200);
  });

  it('README.md shows the output of its commands', async () => {
    const shown = blocks.filter(({ output }) => output !== undefined);
    expect(shown.map(({ section }) => section)).toEqual(['Run it', 'Run it']);
    for (const { commands, output = '' } of shown) expect(await shell(commands)).toMatch(patternOf(output));
  });

  it('README.md has no other commands than those that this test runs or lists', () => {
    const others = blocks.flatMap(({ commands, output }, index) => {
      if (output !== undefined) return [];
      return index === 0 ? commands.split('\n').slice(1) : [commands];
    });
    const begins = Object.keys(notRun);
    expect(others.map((commands) => begins.find((begin) => commands.startsWith(begin)) ?? commands)).toEqual(begins);
  });
});

describe('npm start', () => {
  it('npm start prints commands that register, verify, order and cancel beside those of README.md', async () => {
    const lines = summary.split('\n');
    const first = lines.findIndex((line) => line.startsWith('curl '));
    const commands = lines.slice(first, lines.findIndex((line) => line.startsWith('until ')) + 1);
    expect(commands).toHaveLength(6);
    const output = await shell(commands.join('\n'));
    expect(output).toMatch(/^\{"id":"[^"]+","email":"grace@example.com","name":"Grace","email_verified":false\}\n/);
    expect(output).toMatch(/"status":"cancelled".*"stockReleased":\{"state":"pending"\}/);
    expect(output).toMatch(/"status":"cancelled".*"stockReleased":\{"state":"done",.*\n$/);
  });
});
