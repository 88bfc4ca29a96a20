// Waits for what happens a little later: events, e-mails, recovery.

/** Calls `check` until it stops throwing and returns its value; its last error after `within` milliseconds (default a minute). */
export async function eventually<T>(check: () => Promise<T> | T, within = 60_000): Promise<T> {
  const deadline = performance.now() + within;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
