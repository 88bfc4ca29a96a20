// The static limits of one request. `check-bounds.ts` and the two parsers reject requests that exceed them.

export const bounds = {
  /** Items on a page. */
  limit: { minimum: 1, maximum: 100, default: 20 },
  /** Conditions in total, including those in `or` groups. */
  conditions: 20,
  /** Values in one list. */
  listValues: 100,
  /** Values in one list that are parsed, so that an error response can propose how to split the list. */
  splitValues: 2_000,
  /** Queries that an error response proposes instead of one with lists that are too long. */
  splitQueries: 20,
  /** Groups in `or`. */
  groups: 5,
  sortCriteria: 3,
  cursorCharacters: 4096,
} as const;
