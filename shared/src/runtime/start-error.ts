// The error of a start that the operator can fix.

/** Thrown when the start failed for a reason that the operator can fix. The message is printed without a stack. */
export class StartError extends Error {}
