// Work that a process repeats in the background until it stops.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` immediately, and again after each pause of `every` milliseconds. After a failure, which is passed to
 * `onError`, the work is repeated as usual.
 * @param work gets a signal that is aborted when it should stop early
 * @returns a function that stops it and waits for the work in progress
 */
export function startRepeating(
  every: number,
  work: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await work(stop.signal).catch(onError);
      await sleep(every, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}
