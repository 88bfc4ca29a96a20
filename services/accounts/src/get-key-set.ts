// GET /.well-known/jwks.json: the public keys that verify access tokens.
import { createHash } from 'node:crypto';
import type { Operation } from './context.ts';

/** Relative to the address of the key set, which a proxy may prefix. */
const endedSessions = '../internal/ended-sessions';

/** With a strong entity tag and one second of caching. Verifiers ask once a second, and usually get a 304. */
export const getKeySet: Operation<'getKeySet'> = async (_request, { signingKeys }) => {
  const json = JSON.stringify({ keys: await signingKeys.published(), ended_sessions: endedSessions });
  return {
    status: 200,
    headers: { 'Cache-Control': 'public, max-age=1' },
    etag: `"${createHash('sha256').update(json).digest('base64url')}"`,
    json,
  };
};
