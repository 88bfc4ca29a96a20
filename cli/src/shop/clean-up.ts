// Undoes what a command has begun when a signal ends it, as it is undone after an error.
import { toReason } from '@shop/shared/runtime';

/** What must be undone, in the order in which it was begun. */
const begun = new Set<() => Promise<void>>();
let ending = false;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does the work, and then undoes what it needed or did not finish: also after an error, and when a signal ends the
 * process. The work itself makes what is undone, because a signal that arrives earlier undoes nothing.
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
 * Undoes something when a signal ends the process.
 * @param undo may run while that is still being made
 * @returns a function that undoes it without a signal
 */
export function undoAtSignal(undo: () => Promise<void>): () => Promise<void> {
  if (begun.size === 0) for (const signal of signals) process.on(signal, endBySignal);
  begun.add(undo);
  return async () => {
    // The signal ends the process when everything is undone.
    if (ending) await new Promise(() => {});
    await undo();
    begun.delete(undo);
    if (begun.size === 0) for (const signal of signals) process.off(signal, endBySignal);
  };
}

/** A signal may arrive twice: from the terminal, and from npm, which passes it on. */
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
