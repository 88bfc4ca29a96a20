// Attack programs against a running shop on this machine, from Debian's packages.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { installPackage } from '../../../shared/src/testing/servers/install-package.ts';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { report } from './report.ts';

const run = promisify(execFile);
let shop: RunningShop;
let folder: string;
beforeAll(async () => {
  [shop, folder] = await Promise.all([startShop(), mkdtemp(join(tmpdir(), 'shop-attacks-'))]);
});
afterAll(async () => {
  await shop?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Installs a program from Debian's packages unless the machine has it. @throws Error when it cannot be installed */
async function install(program: string): Promise<void> {
  await run('which', [program]).catch(() => installPackage(program));
}

/** Runs a program for at most `milliseconds`. @returns its output until then */
async function output(program: string, parameters: readonly string[], within: number): Promise<string> {
  const options = { cwd: folder, timeout: within, maxBuffer: 64 << 20, env: { ...process.env, HOME: folder } };
  return run(program, parameters, options).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout = '', stderr = '' }: { stdout?: string; stderr?: string }) => stdout + stderr,
  );
}

it('sqlmap finds no parameter that it can inject into', async () => {
  await install('sqlmap');
  const targets = [
    ['-u', `${shop.url}/v1/products?brand=a&limit=1`, '-p', 'brand,limit'],
    ['-u', `${shop.url}/v1/tokens`, '--data', '{"email":"a@b.test","password":"x"}', '--ignore-code', '401,400'],
  ];
  const found: string[] = [];
  let tested = 0;
  for (const target of targets) {
    const common = [
      '--batch',
      '--flush-session',
      '--disable-coloring',
      '--threads',
      '1',
      '--technique',
      'BEU',
      '--delay',
      '0.02',
    ];
    const text = await output('sqlmap', [...target, ...common, '--output-dir', folder], 90_000);
    tested += text.split("testing '").length - 1;
    for (const [line] of text.matchAll(/^.*(?:appears to be '.*' injectable|is vulnerable|sqlmap identified).*$/gm))
      found.push(line);
  }
  expect(tested).toBeGreaterThan(20);
  report('sqlmap tests', tested, found);
});

it.each([
  ['headers', ['-H']],
  ['bodies', ['-B']],
])('slowhttptest finds the shop available beside slow %s', async (what, mode) => {
  await install('slowhttptest');
  const limits = ['-c', '300', '-r', '100', '-l', '20', '-i', '2', '-p', '3'];
  const text = await output('slowhttptest', [...mode, ...limits, '-u', `${shop.url}/v1/products`], 60_000);
  const states = [...stripVTControlCharacters(text).matchAll(/service available:\s*(YES|NO)/g)].map(
    ([, state]) => state,
  );
  expect(states.length).toBeGreaterThan(0);
  report(
    `slowhttptest ${what}`,
    300,
    states.filter((state) => state === 'NO').map(() => 'service not available'),
  );
});
