// Keeps the cores of a measurement from halting: one that does is woken by its host, on a shared machine milliseconds late.
import { spawn } from 'node:child_process';
import { canRun } from './can-run.ts';

/**
 * Takes what every other process leaves, and ends with the benchmark however that ends. After each stretch of about 0.1 s it sleeps
 * for a millisecond: a kernel thread that holds a lock and is not given the core otherwise would keep it, and all who wait for it.
 */
const spin = `
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (const parent = process.ppid; process.ppid === parent; Atomics.wait(cell, 0, 0, 1)) {
    for (let turn = 0; turn < 3e8; turn += 1);
  }`;

/**
 * Where it can, runs something on these cores whenever nothing else wants them.
 * @returns ends it
 */
export function keepAwake(cores: readonly number[]): () => void {
  if (!canRun('chrt', '--idle', '0', 'taskset', '-c', String(Math.max(...cores)), 'true')) return () => {};
  const spinning = cores.map((core) =>
    spawn('chrt', ['--idle', '0', 'taskset', '-c', String(core), process.execPath, '-e', spin], { stdio: 'ignore' }),
  );
  return () => {
    for (const child of spinning) child.kill();
  };
}
