// GET /.well-known/jwks.json: the public keys that verify access tokens.
import { createHash } from 'node:crypto';
import type { Operation } from '../context.ts';

/** The address is relative to that of the key set, because a proxy may add a prefix. */
const endedSessions = '../internal/ended-sessions';

/**
 * The response has a strong entity tag and may be cached for one second. Verifiers request it once a second, and
 * usually get a 304.
 */
export const getKeySet: Operation<'getKeySet'> = async (_request, { signingKeys }) => {
  const json = JSON.stringify({ keys: await signingKeys.published(), ended_sessions: endedSessions });
  return {
    status: 200,
    headers: { 'Cache-Control': 'public, max-age=1' },
    etag: `"${createHash('sha256').update(json).digest('base64url')}"`,
    json,
  };
};
