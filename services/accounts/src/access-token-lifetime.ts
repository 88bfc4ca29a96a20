/** How long an access token is valid, in seconds. A retired signing key is published for longer than this. */
export const accessTokenSeconds = 900;
