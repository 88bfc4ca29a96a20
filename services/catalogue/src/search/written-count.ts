// Counts of products in responses.

/** The largest exact count; a larger one is shown as `"1000+"`. */
export const countedUpTo = 1_000;

/** Converts a count as PostgreSQL prints it into JSON text. */
export function writeCount(count: string): string {
  return Number(count) > countedUpTo ? `"${countedUpTo}+"` : count;
}
