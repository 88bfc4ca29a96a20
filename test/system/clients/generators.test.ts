// Other client generators are run on the published document. Their output compiles in the strict mode of TypeScript.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../../gateway/test/start-gateway.ts';
import { installTools, runIn, tool } from './install.ts';

let folder: string;

beforeAll(async () => {
  await installTools();
  folder = await mkdtemp(join(tmpdir(), 'shop-generated-'));
  await symlink(tool(), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'generated', type: 'module' }));
  const config = fileURLToPath(new URL('../../../gateway/config', import.meta.url));
  const gateway = await startGateway({ GATEWAY_CONFIG_DIR: config });
  try {
    const document = await fetch(new URL('/v1/openapi.json', gateway.url));
    await writeFile(join(folder, 'openapi.json'), await document.text());
  } finally {
    await gateway.stop();
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (program: string, ...parameters: readonly string[]) =>
  runIn(folder, process.execPath, tool(program), ...parameters);

async function compile(generated: string): Promise<void> {
  const strict = { strict: true, noEmit: true, skipLibCheck: true };
  const target = { target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: [] };
  const modules = { module: 'esnext', moduleResolution: 'bundler', allowImportingTsExtensions: true };
  const config = { compilerOptions: { ...strict, ...target, ...modules } };
  await writeFile(join(folder, generated, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = await run('typescript/bin/tsc', '--project', generated, '--listFilesOnly');
  expect(stdout.split('\n').filter((file) => file.includes(`/${generated}/`)).length).toBeGreaterThan(0);
  await run('typescript/bin/tsc', '--project', generated);
}

describe('the published document', () => {
  it('the published document is valid input of openapi-typescript', async () => {
    await run('openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'openapi-typescript/shop.ts');
    await compile('openapi-typescript');
  });

  it('the published document is valid input of @hey-api/openapi-ts', async () => {
    const client = ['--client', '@hey-api/client-fetch'];
    await run('@hey-api/openapi-ts/bin/run.js', '--input', 'openapi.json', '--output', 'hey-api', ...client);
    await compile('hey-api');
  });

  it.each(['fetch', 'zod'])('the published document is valid input of orval for %s', async (client) => {
    const output = { target: `orval-${client}/shop.ts`, client, mode: 'single' };
    const config = `export default { shop: { input: './openapi.json', output: ${JSON.stringify(output)} } };\n`;
    await writeFile(join(folder, `orval-${client}.config.mjs`), config);
    await run('orval/dist/bin/orval.mjs', '--config', `orval-${client}.config.mjs`);
    await compile(`orval-${client}`);
    // The module has regular expressions of the contract, which the compiler does not check.
    await runIn(folder, process.execPath, '--disable-warning=ExperimentalWarning', output.target);
  });
});
