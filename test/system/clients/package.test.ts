// The packed client in an empty project: its files, its types, the examples of its README, and programs on each
// runtime.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { examplesOf } from '../../../tools/docs/guide-examples.ts';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { installClient, installTools, runIn, tool } from './install.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const password = 'a long and quiet river';

let project: string;
let client: string;
let shop: RunningShop;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'shop-client-'));
  client = await installClient(project);
  await installTools();
  shop = await startShop();
});

afterAll(async () => {
  await shop?.stop();
  await rm(project, { recursive: true, force: true });
});

/** Runs a program in the project and returns what it writes. */
async function run(program: string, ...parameters: string[]): Promise<string> {
  const { stdout, stderr } = await runIn(project, program, ...parameters);
  expect(stderr).toBe('');
  return stdout;
}

async function newCustomer(): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  await createShop({ baseUrl: shop.url }).call.POST('/v1/accounts', { body: { email, name: 'Kim Park', password } });
  return email;
}

describe('the package', () => {
  it('the package has modules, declarations, a README and a licence, and no dependency', async () => {
    expect((await readdir(client)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    const files = await readdir(join(client, 'dist'));
    const modules = files.filter((file) => file.endsWith('.js')).map((file) => file.slice(0, -3));
    expect(modules).toContain('index');
    expect(files.sort()).toEqual(modules.flatMap((name) => [`${name}.d.ts`, `${name}.js`]).sort());
    const manifest = JSON.parse(await readFile(join(client, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({ type: 'module', engines: { node: '>=20' }, sideEffects: false });
    expect(manifest.dependencies).toBeUndefined();
    expect(await readdir(join(project, 'node_modules/@shop'))).toEqual(['client']);
  });

  it('the package imports nothing but its own modules', async () => {
    const files = (await readdir(join(client, 'dist'))).map((file) => join(client, 'dist', file));
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    const imported = texts.flatMap((text) => [...text.matchAll(/ from '([^']*)'|import\(['"]([^'"]*)/g)]);
    expect(imported.length).toBeGreaterThan(10);
    expect(imported.filter(([, from = '', lazy = '']) => !/^\.\/[a-z-]+\.[jt]s$/.test(from + lazy))).toEqual([]);
  });
});

const snippets = examplesOf('../client/README').filter((example) => example.kind === 'ts');

/** Returns an example of the README as a whole program. */
async function programOf(code: string, baseUrl: string): Promise<string> {
  const page = await createShop({ baseUrl: shop.url }).call.GET('/v1/products', {
    params: { query: { status: ['available'], limit: 1 } },
  });
  const prelude = `import { createShop } from '@shop/client';
    const shop = createShop({ baseUrl: 'http://localhost:8080' });
    const productId = '${page.data?.items[0]?.id}';
    await shop.logIn({ email: 'kim@example.com', password: '${password}' });\n`;
  return (code.includes('createShop') ? code : prelude + code)
    .replaceAll('kim@example.com', await newCustomer())
    .replaceAll('http://localhost:8080', baseUrl);
}

describe('the README', () => {
  it.each(snippets)('the README has an example that runs: $code', async ({ code }) => {
    const file = join(project, `example-${randomUUID()}.ts`);
    await writeFile(file, await programOf(code, shop.url));
    await run(process.execPath, '--disable-warning=ExperimentalWarning', file);
  });

  it.each([
    ['5.9', tool('typescript/bin/tsc')],
    ['7.0', join(root, 'node_modules/typescript/bin/tsc')],
  ])(
    'the examples of the README compile with the types of the package in the strict mode of TypeScript %s',
    async (version, tsc) => {
      const folder = join(project, `types-${version}`);
      await mkdir(folder);
      for (const [index, { code }] of snippets.entries())
        await writeFile(join(folder, `example-${index}.mts`), `${await programOf(code, shop.url)}\nexport {};\n`);
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
      const target = { target: 'es2022', lib: ['es2022', 'dom'], types: [], module: 'nodenext' };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...strict, ...target } }));
      await run(process.execPath, tsc, '--project', folder);
    },
  );
});

const runtimes: [string, ...string[]][] = [
  ['Node.js 20', tool('node-20/bin/node')],
  ['Node.js 22', tool('node-22/bin/node')],
  ['Node.js 24', process.execPath],
  ['Bun', tool('.bin/bun')],
  [
    'Deno',
    tool('.bin/deno'),
    'run',
    '--quiet',
    '--node-modules-dir=manual',
    '--allow-net',
    '--allow-env',
    '--allow-read',
  ],
];

const outcomes: [string, object][] = [
  [
    'order',
    {
      placed: 'pending',
      isListed: true,
      cancelled: 'cancelled',
      isSame: true,
      stock: 'done',
      missed: ['WaitError', 'unreachable'],
      afterLogOut: 401,
    },
  ],
  ['lists', { hasProducts: true, afterOne: 1, hasBrands: true, empty: 'TypeError' }],
  [
    'errors',
    {
      logIn: 'invalid-credentials',
      order: 'insufficient-stock',
      list: 'query-too-costly',
      statuses: [200, 200, 200, 200],
      tokens: 2,
      aborted: 'enough',
    },
  ],
];

describe.each(runtimes)('on %s', (_name, runtime, ...options) => {
  it.each(outcomes)('the program %s has the same outcome', async (program, outcome) => {
    const file = join(project, `${program}.mjs`);
    await writeFile(file, await readFile(new URL(`programs/${program}.mjs`, import.meta.url)));
    const written = await run(runtime, ...options, file, shop.url, await newCustomer(), password);
    expect(JSON.parse(written)).toEqual(outcome);
  });
});
