// The exit codes of all commands, which docs/command-line.md describes.

export const exitCodes = {
  done: 0,
  /** The command failed, or its check found a fault. */
  failed: 1,
  /** The arguments are wrong; nothing was done. */
  wrongArguments: 2,
  /** The command succeeded, except for the cases in its report. */
  partly: 3,
} as const;
