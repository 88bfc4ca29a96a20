// Service tokens: how one process of the shop proves to another that an internal call comes from inside.
import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { Problem } from '../http/problem.ts';
import { readTokenHeader } from './compact-token.ts';

export interface ServiceTokens {
  /** The `Authorization` value for a call to the service `audience`; valid for 60 s, good for many calls. */
  sign(audience: string): Promise<string>;
  /**
   * The name of the service that signed the header.
   * @throws Problem `unauthenticated` unless it is a service token for `audience`
   */
  verify(authorization: string | undefined, audience: string): Promise<string>;
}

const algorithm = 'HS256';
const tokenType = 'internal+jwt';
const lifetime = 60;
const reuseFor = 30_000;
const bearer = /^Bearer ([^ ]+)$/;

/**
 * Signs and verifies internal calls with the secret that all processes share.
 * @param options.secret at least 32 bytes
 * @param options.name the service that signs
 */
export function createServiceTokens(options: { secret: string; name: string }): ServiceTokens {
  const secret = new TextEncoder().encode(options.secret);
  if (secret.length < 32) throw new Error('the internal secret must have at least 32 bytes');
  const signed = new Map<string, { value: string; at: number }>();

  return {
    async sign(audience) {
      const known = signed.get(audience);
      if (known !== undefined && performance.now() - known.at < reuseFor) return known.value;
      const now = Math.floor(Date.now() / 1000);
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: algorithm, typ: tokenType })
        .setIssuer(options.name)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + lifetime)
        .setJti(randomUUID())
        .sign(secret);
      signed.set(audience, { value: `Bearer ${token}`, at: performance.now() });
      return `Bearer ${token}`;
    },

    async verify(authorization, audience) {
      const token = bearer.exec(authorization ?? '')?.[1] ?? '';
      const header = readTokenHeader(token);
      if (header?.alg !== algorithm || header.typ !== tokenType) throw refused();
      const checks = { algorithms: [algorithm], typ: tokenType, audience, clockTolerance: 5, maxTokenAge: lifetime };
      const { payload } = await jwtVerify(token, secret, { ...checks, requiredClaims: ['iss', 'exp', 'jti'] }).catch(
        () => {
          throw refused();
        },
      );
      if (typeof payload.iss !== 'string') throw refused();
      return payload.iss;
    },
  };
}

function refused(): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="internal", error="invalid_token"' };
  return new Problem('unauthenticated', 'The service token is not valid.', { headers });
}
