/** The lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900;

/**
 * Seconds for which an access token can be valid after the last use of its key or the end of its session. A token may
 * be signed shortly after that, and clocks may differ. The margin to the lifetime covers both.
 */
export const longestTokenSeconds = accessTokenSeconds + 300;
