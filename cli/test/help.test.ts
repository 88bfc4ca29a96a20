// The help of the command line loads few modules, because each of them costs processor time before the first line.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('../src/shop.ts', import.meta.url));
/** A module that prints the number of loaded modules at the end. */
const counter = `
  import { registerHooks } from 'node:module';
  let loaded = 0;
  registerHooks({ load: (url, context, next) => { loaded += 1; return next(url, context); } });
  process.on('exit', () => console.error('loaded ' + loaded));
`;

async function helpOf(...given: string[]): Promise<{ output: string; loaded: number }> {
  const hook = `data:text/javascript,${encodeURIComponent(counter)}`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--import',
    hook,
    script,
    ...given,
    '--help',
  ]);
  return { output: stdout, loaded: Number(/loaded (\d+)/.exec(stderr)?.[1]) };
}

it('the help of the whole command line loads none of the modules of its commands', async () => {
  const { output, loaded } = await helpOf();
  expect(output).toMatch(/^ {2}orders +list, show, advance and cancel orders$/m);
  expect(output).toMatch(/^ {2}completion +print the completion script of a shell$/m);
  // The help of one command loads 390 to 1,300.
  expect(loaded).toBeGreaterThan(20);
  expect(loaded).toBeLessThan(150);
});

it('the help of one command has its options and its description', async () => {
  const { output } = await helpOf('seed');
  expect(output).toContain('add realistic products to the catalogue');
  expect(output).toContain('--products <n>');
});
