// Shares one read among several gauges.

/** The default number of milliseconds for which a result is reused. */
const usualAge = 10_000;

/**
 * Returns a function that gives all callers the same result for some time, so that several gauges of one query cause
 * only one query. After a failure, the next call reads again.
 * @param age milliseconds for which a result is reused
 */
export function sharedRead<T>(read: () => Promise<T>, age = usualAge): () => Promise<T> {
  let current: Promise<T> | undefined;
  let readAt = 0;
  return () => {
    if (current === undefined || performance.now() - readAt > age) {
      readAt = performance.now();
      current = read();
      current.catch(() => {
        current = undefined;
      });
    }
    return current;
  };
}
