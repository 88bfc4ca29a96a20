// A soak runs rounds, continues in its folder, and reports violations with its exit code. Takes about two minutes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { plainEnvironment } from '@shop/shared/testing';
import { repliesOf } from './report.ts';
import type { SoakState } from './state.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-soak-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Its first rounds kill one process of the catalogue and one of orders. */
const seed = '297';

async function run(program: string, ...given: readonly string[]): Promise<{ code: number | null; output: string }> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [file, '--hours', '0.0001', '--folder', folder, ...given], {
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += String(data);
    });
  const [code] = await once(child, 'close');
  return { code: code as number | null, output };
}

const state = async (): Promise<SoakState> => JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'));

it('the soak test continues with the next round and with its counters', async () => {
  const first = await run('main.ts', '--seed', seed);
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining('0 violations') });
  const before = await state();
  expect(before).toMatchObject({ rounds: 1, starts: 1, violations: [] });
  expect(await run('main.ts', '--seed', seed)).toMatchObject({ code: 0 });
  const after = await state();
  expect(after).toMatchObject({ rounds: 2, starts: 2, violations: [] });
  expect(repliesOf(after)).toBeGreaterThan(repliesOf(before));
  expect(Object.keys(before.faults)).toHaveLength(1);
  expect(Object.keys(after.faults)).toHaveLength(2);
  const report = await readFile(join(folder, 'report.md'), 'utf8');
  for (const part of [...Object.keys(after.faults), '| gateway |', '| orders 2 |', '| soak |', '2 rounds'])
    expect(report).toContain(part);
  const other = await run('main.ts', '--seed', '1');
  expect(other).toMatchObject({ code: 1, output: expect.stringContaining(`belongs to a soak with seed ${seed}`) });
}, 600_000);

it.each([
  ['--minutes', '3'],
  ['--hours', '0'],
  ['--hours', '49'],
  ['--seed', 'x'],
])('the soak test exits with 2 for %s %s', async (option, value) => {
  expect(await run('main.ts', option, value)).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^npm run soak/),
  });
});

it('the soak test reports a violation, and exits with 1', async () => {
  const { code, output } = await run('planted.ts');
  expect(output).toMatch(/VIOLATION in round 0, a unit is lost: product .* at first/);
  expect(output).toMatch(/VIOLATION in round 0, after the checks: order or account .* has changed/);
  expect(code).toBe(1);
  expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain('- round 0, a unit is lost: product');
});
