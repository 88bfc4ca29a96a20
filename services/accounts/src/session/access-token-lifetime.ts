/** The lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900;

/**
 * Seconds after the last use of a key or the end of a session after which no access token of it is valid any more. A
 * token may be signed a moment after that use, and clocks may differ: the difference to the lifetime allows for both.
 */
export const longestTokenSeconds = accessTokenSeconds + 300;
