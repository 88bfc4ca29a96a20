// Access tokens for tests: a separate issuer with a real key set address.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { newId } from '../runtime/index.ts';

export interface TokenClaims {
  readonly accountId?: string;
  readonly scopes?: readonly string[];
  /** Whether the token belongs to a machine. Its client id is then `accountId`. */
  readonly isMachine?: boolean;
  /** Whether the token was issued by a recent log-in with the password. */
  readonly loggedIn?: boolean;
  /** Seconds from the log-in to the issue of the token, with `loggedIn`; default 0. */
  readonly issuedAfter?: number;
  /** Whether the e-mail address is verified; default true. */
  readonly emailVerified?: boolean;
  /** Seconds from now. A negative number gives an expired token. */
  readonly expiresIn?: number;
  readonly issuer?: string;
  readonly audience?: string;
  readonly type?: string;
}

export interface TestIssuer {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** Returns a signed access token. */
  sign(claims?: TokenClaims): Promise<string>;
  /** Returns a token that is valid except for its signature, which was made with another key under the same `kid`. */
  forge(claims?: TokenClaims): Promise<string>;
  close(): Promise<void>;
}

const keyId = 'test-key';
const issuer = 'https://shop.test';
const audience = 'shop';

/** Starts an issuer on a free loopback port. */
export async function startIssuer(): Promise<TestIssuer> {
  const [key, otherKey] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk: JWK = { ...(await exportJWK(key.publicKey)), kid: keyId, alg: 'ES256', use: 'sig' };
  const server = await serveKeySet({ keys: [jwk] });
  const signWith = (privateKey: CryptoKey, claims: TokenClaims = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const accountId = claims.accountId ?? newId();
    const { scopes = [], emailVerified = true } = claims;
    const issuedAt = Math.min(now, now + (claims.expiresIn ?? 900) - 1);
    const logIn = claims.loggedIn === true ? { auth_time: issuedAt - (claims.issuedAfter ?? 0) } : {};
    const scope = scopes.join(' ');
    const holder = { accountId, scope, email_verified: emailVerified, ...logIn };
    return new SignJWT(claims.isMachine ? { client_id: accountId, scope } : holder)
      .setProtectedHeader({ alg: 'ES256', kid: keyId, typ: claims.type ?? 'at+jwt' })
      .setIssuer(claims.issuer ?? issuer)
      .setAudience(claims.audience ?? audience)
      .setSubject(accountId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(now + (claims.expiresIn ?? 900))
      .setJti(newId())
      .sign(privateKey);
  };
  return {
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`,
    issuer,
    audience,
    sign: (claims) => signWith(key.privateKey, claims),
    forge: (claims) => signWith(otherKey.privateKey, claims),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function serveKeySet(keySet: { keys: JWK[] }): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/jwk-set+json');
    response.end(JSON.stringify(keySet));
  });
  server.on('connection', (socket) => socket.unref()).unref();
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
