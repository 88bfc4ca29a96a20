// What the exit code of every command says; docs/command-line.md tells it to people.

export const exitCodes = {
  done: 0,
  /** It was not done, or what was asked about is not well. */
  failed: 1,
  /** It was asked for wrongly; nothing was done. */
  wrongArguments: 2,
  /** It was done, but for what the report names. */
  partly: 3,
} as const;
