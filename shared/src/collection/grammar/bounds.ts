// The static bounds of one request. `check-bounds.ts` and the two parsers refuse what exceeds them.

export const bounds = {
  /** Items of a page. */
  limit: { minimum: 1, maximum: 100, default: 20 },
  /** Conditions in all, those in `or` groups included. */
  conditions: 20,
  /** Values in one list. */
  listValues: 100,
  /** Values in one list that are read, so that a refusal can show how the list is split. */
  splitValues: 2_000,
  /** Queries that a refusal proposes in place of one with lists that are too long. */
  splitQueries: 20,
  /** Groups in `or`. */
  groups: 5,
  sortCriteria: 3,
  cursorCharacters: 4096,
} as const;
