// Undoes the changes of a command when it fails or a signal stops it.
import { toReason } from '@shop/shared/runtime';

/** The registered undo functions, in order of registration. */
const begun = new Set<() => Promise<void>>();
let ending = false;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work`, and then `undo`: also after an error, and when a signal stops the process. `work` itself creates what
 * `undo` removes, because a signal that arrives earlier undoes nothing.
 *
 * @param undo may run while the work is in progress
 */
export async function withCleanUp<T>(work: () => Promise<T>, undo: () => Promise<void>): Promise<T> {
  const finish = undoAtSignal(undo);
  try {
    return await work();
  } finally {
    await finish();
  }
}

/**
 * Calls `undo` when a signal stops the process.
 * @param undo may run before the work that it undoes is complete
 * @returns a function that calls `undo` without a signal
 */
export function undoAtSignal(undo: () => Promise<void>): () => Promise<void> {
  if (begun.size === 0) for (const signal of signals) process.on(signal, endBySignal);
  begun.add(undo);
  return async () => {
    // The process exits after everything is undone.
    if (ending) await new Promise(() => {});
    await undo();
    begun.delete(undo);
    if (begun.size === 0) for (const signal of signals) process.off(signal, endBySignal);
  };
}

/** Exits by the signal. It may arrive twice: from the terminal, and from npm, which forwards it. */
function endBySignal(signal: NodeJS.Signals): void {
  if (ending) return;
  ending = true;
  void (async () => {
    for (const undo of [...begun].reverse())
      await undo().catch((error: unknown) => process.stderr.write(`${toReason(error)}\n`));
    for (const each of signals) process.off(each, endBySignal);
    process.kill(process.pid, signal);
  })();
}
