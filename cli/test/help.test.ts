// The help of the command line loads few modules, because each of them costs processor time before the first line.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('../src/shop.ts', import.meta.url));
/** A module that prints the addresses of the loaded modules at the end. */
const recorder = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  process.on('exit', () => console.error(loaded.join('\\n')));
`;

async function run(...given: string[]): Promise<{ output: string; loaded: readonly string[] }> {
  const hook = `data:text/javascript,${encodeURIComponent(recorder)}`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', hook, script, ...given]);
  return { output: stdout, loaded: stderr.trim().split('\n') };
}

it('the help of the whole command line loads no module of its commands', async () => {
  const { output, loaded } = await run('--help');
  expect(output).toMatch(/^ {2}orders +list, show, advance and cancel orders$/m);
  expect(output).toMatch(/^ {2}completion +print the completion script of a shell$/m);
  // The help of one command loads about 400.
  expect(loaded.length).toBeGreaterThan(20);
  expect(loaded.length).toBeLessThan(150);
});

it('the help of one command has its options and its description', async () => {
  const { output } = await run('seed', '--help');
  expect(output).toContain('add realistic products to the catalogue');
  expect(output).toContain('--products <n>');
});

it('the help of no command loads a module of a service, apart from the values that its options accept', async () => {
  // The completion needs the commands with all their options.
  const { loaded } = await run('completion', 'bash');
  const services = loaded.flatMap((url) => /\/services\/.*/.exec(url) ?? []);
  expect(loaded.some((url) => url.endsWith('/commands/accounts.ts'))).toBe(true);
  expect(services.toSorted()).toEqual([
    '/services/accounts/src/operator/staff-scopes.ts',
    '/services/catalogue/src/operator/values.ts',
    '/services/changes/src/feed/change.ts',
    '/services/changes/src/operator/values.ts',
    '/services/orders/src/operator/values.ts',
    '/services/orders/src/order/order-status.ts',
    '/services/orders/src/returns/return-status.ts',
  ]);
});
