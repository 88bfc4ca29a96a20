// The static bounds of one request. `check-bounds.ts` and the two parsers refuse what exceeds them.

export const bounds = {
  /** Items of a page. */
  limit: { minimum: 1, maximum: 100, default: 20 },
  /** Conditions in all, those in `or` groups included. */
  conditions: 20,
  /** Values in one list. */
  listValues: 100,
  /** Groups in `or`. */
  groups: 5,
  sortCriteria: 3,
  cursorCharacters: 4096,
} as const;
