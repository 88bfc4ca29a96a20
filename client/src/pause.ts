// A pause that ends early when the caller aborts it.
import { unlessAborted } from './unless-aborted.ts';

/** The maximum milliseconds of a timer. A longer one would fire immediately. */
export const longestTimer = 2 ** 31 - 1;

/** @throws the reason of the signal as soon as it is aborted */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(milliseconds, longestTimer));
  });
  await unlessAborted(over, signal).finally(() => clearTimeout(timer));
}
