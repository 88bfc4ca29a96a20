// Waits for effects that take some time: events, e-mails, recovery.
import { atThisPace } from './pace.ts';

/**
 * Calls `check` until it no longer throws, and returns its value. Throws its last error after `within` milliseconds
 * (default 5000), which are extended on a slower machine.
 */
export async function eventually<T>(check: () => Promise<T> | T, within = 5_000): Promise<T> {
  const deadline = performance.now() + atThisPace(within);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
