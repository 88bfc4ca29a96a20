/** How long an access token is valid, in seconds. */
export const accessTokenSeconds = 900;

/**
 * Seconds after which no access token is valid whose key or session was in use before. A token may be signed a moment
 * after that use, and clocks may differ: the remainder allows for both.
 */
export const longestTokenSeconds = accessTokenSeconds + 300;
