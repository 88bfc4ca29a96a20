// The end of a process that the tests did not cause is reported.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { seen } from './fault.ts';
import { createRandom } from './random.ts';
import { type Supervised, supervise } from './supervised.ts';

let folder: string;
let supervised: Supervised;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shop-supervised-'));
  const main = join(folder, 'main.ts');
  writeFileSync(main, 'setInterval(() => {}, 1_000)');
  supervised = supervise({ name: 'idle', url: '', main, environment: {}, random: createRandom(1) });
});
afterEach(async () => {
  await supervised.stop();
  rmSync(folder, { recursive: true });
});

it('the supervisor reports a process that another program kills', async () => {
  process.kill(supervised.pid() ?? 0, 'SIGKILL');
  const accidents: string[] = [];
  expect(await seen(() => accidents.push(...supervised.accidents()) > 0)).toBe(true);
  expect(accidents).toEqual([expect.stringMatching(/^idle ended by itself \(SIGKILL\)/)]);
});

it('the end of a process that the test stops is not reported, and the end of its replacement is', async () => {
  supervised.kill('SIGKILL');
  const first = supervised.pid();
  expect(await seen(() => supervised.deaths() === 1 && supervised.pid() !== first)).toBe(true);
  expect(supervised.accidents()).toEqual([]);
  process.kill(supervised.pid() ?? 0, 'SIGKILL');
  expect(await seen(() => supervised.accidents().length === 1)).toBe(true);
});
