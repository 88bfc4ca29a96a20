// Waits for what happens a little later: events, e-mails, recovery.
import { atThisPace } from './pace.ts';

/**
 * Calls `check` until it stops throwing and returns its value; its last error after `within` milliseconds (default
 * 5000), on a slower machine later.
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
