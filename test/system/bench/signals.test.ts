// A benchmark that a signal ends leaves no process running.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import type { RunningShop } from '../../../cli/src/shop/data-folder.ts';
import { runningShop, stillListening } from '../../../cli/test/started-shop.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let folder: string;
let benchmark: ChildProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-signals-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
});

afterAll(async () => {
  benchmark?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Starts a benchmark as `npm run bench -- NAME` does, and waits until its shop runs. */
async function startBenchmark(name: string): Promise<RunningShop> {
  benchmark = spawn(process.execPath, ['bench/main.ts', name], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
    stdio: 'ignore',
  });
  return eventually(async () => {
    if (benchmark.exitCode !== null) throw new Error(`the benchmark ended with ${benchmark.exitCode}`);
    const [own = ''] = (await readdir(folder)).filter((each) => each.startsWith('shop-bench-'));
    return runningShop(join(folder, own, 'data'));
  }, 120_000);
}

describe('a benchmark', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'a benchmark that %s ends leaves nothing of its shop running',
    async (signal) => {
      const shop = await startBenchmark('timing');
      const exited = once(benchmark, 'exit');
      benchmark.kill(signal);
      expect(await exited).toEqual([null, signal]);
      await eventually(async () => expect(await stillListening(shop)).toEqual([]), 40_000);
      if (signal === 'SIGTERM') expect(await readdir(folder)).toEqual([]);
      else await rm(folder, { recursive: true, maxRetries: 5 });
    },
  );
});
