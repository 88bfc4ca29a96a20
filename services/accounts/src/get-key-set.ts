// GET /.well-known/jwks.json: the public keys of our access tokens.
import { createHash } from 'node:crypto';
import type { Operation } from './context.ts';

/** Strong entity tag and a second of caching: verifiers ask once a second, and mostly get a 304. */
export const getKeySet: Operation<'getKeySet'> = async (_request, { signingKeys }) => {
  const json = JSON.stringify({ keys: await signingKeys.published() });
  return {
    status: 200,
    headers: { 'Cache-Control': 'public, max-age=1' },
    etag: `"${createHash('sha256').update(json).digest('base64url')}"`,
    json,
  };
};
