// Keeps the cores of a measurement from halting, because the host of a shared machine wakes a halted core milliseconds
// late.
import { spawn } from 'node:child_process';
import { canRun } from './can-run.ts';

/**
 * The idle loop uses only processor time that no other process needs, and it ends with the benchmark. It sleeps for a
 * millisecond after every 0.1 s, because a kernel thread that holds a lock might otherwise never get the core.
 */
const spin = `
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (const parent = process.ppid; process.ppid === parent; Atomics.wait(cell, 0, 0, 1)) {
    for (let turn = 0; turn < 3e8; turn += 1);
  }`;

/**
 * Runs an idle-priority loop on these cores where the machine permits it.
 * @returns stops the loop
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
