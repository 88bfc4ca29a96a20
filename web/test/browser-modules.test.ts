// Modules in TypeScript become scripts that a browser runs: joined, without types, and in the order of their imports.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { browserModules } from '../src/browser-modules.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'browser-modules-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Joins the modules, and returns what the first one exports in Node.js. */
async function run(packages: Readonly<Record<string, string>> = {}): Promise<Record<string, unknown>> {
  const scripts = browserModules(join(folder, 'in'), 'main.ts', packages);
  for (const [name, text] of scripts)
    await write({ [`out/${name.replace(/\.js$/, '.mjs')}`]: text.replaceAll(".js'", ".mjs'") });
  const { modules } = (await import(pathToFileURL(join(folder, 'out/main.mjs')).href)) as {
    modules: Record<string, Record<string, unknown>>;
  };
  return modules['main.ts'] ?? {};
}

it('modules are joined in the order of their imports, each once, with private names of their own', async () => {
  await write({
    'in/main.ts': `import { count, type Kind, one as first } from './a.ts';\nimport * as all from './b.ts';\nconst own = 1;\nexport const sum: Kind = own + first + all.two;\nexport const loads = count;\n`,
    'in/a.ts': `import { two } from './b.ts';\nexport type Kind = number;\nconst own = 10;\nexport const one = own * two;\nexport { count } from './b.ts';\n`,
    'in/b.ts': `const own = 2;\nexport const two = own;\nexport let_\n`.replace(
      'export let_',
      'export function count(): number {\n  return own;\n}',
    ),
  });
  const { sum, loads } = await run();
  expect(sum).toBe(23);
  expect((loads as () => number)()).toBe(2);
});

it('a package is found by its name', async () => {
  await write({
    'in/main.ts': `import { Shop } from '@shop/client';\nexport const name = new Shop().name;\n`,
    'client/index.ts': `export { Shop } from './shop.ts';\n`,
    'client/shop.ts': `export class Shop {\n  readonly name: string = 'shop';\n}\n`,
  });
  expect(await run({ '@shop/client': join(folder, 'client/index.ts') })).toEqual({ name: 'shop' });
});

it('a module that is loaded later is a script of its own, and uses the modules that are there', async () => {
  await write({
    'in/main.ts': `import { state } from './state.ts';\nstate.count += 1;\nexport async function open(): Promise<number> {\n  const { page } = await import('./pages/late.ts');\n  return page();\n}\n`,
    'in/state.ts': `export const state = { count: 0 };\n`,
    'in/pages/late.ts': `import { state } from '../state.ts';\nimport { ten } from './ten.ts';\nexport function page(): number {\n  return state.count * ten;\n}\n`,
    'in/pages/ten.ts': `export const ten = 10;\n`,
  });
  const { open } = await run();
  expect(await (open as () => Promise<number>)()).toBe(10);
});

it.each([
  ['a default export', `export default 1;\n`, /cannot be joined with other modules: export default 1/],
  ['an import for its effect', `import './main.ts';\n`, /cannot be joined with other modules: import/],
  [
    'a cycle',
    `import { a } from './main.ts';\nexport const b = a;\n`,
    /modules import each other: .*main\.ts → .*other\.ts/,
  ],
])('%s is refused with the file', async (_, other, reason) => {
  await write({ 'in/main.ts': `import { b } from './other.ts';\nexport const a = b;\n`, 'in/other.ts': other });
  expect(() => browserModules(join(folder, 'in'), 'main.ts', {})).toThrow(reason);
});
