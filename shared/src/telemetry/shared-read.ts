// One reading for several gauges.

/** Milliseconds for which a reading is used, unless the caller sets another time. */
const usualAge = 10_000;

/**
 * A function that returns the same reading to all its callers for some time, so that the gauges of one query cause one
 * query. A failed reading is repeated by the next call.
 * @param age milliseconds for which a reading is used
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
