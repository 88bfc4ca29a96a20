// An issuer whose key set a test can change at any time, and which records the requests for it.
import { generateKeyPairSync, hash, type JsonWebKey, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { newId } from '../../src/runtime/index.ts';

export interface KeyPair {
  readonly jwk: JsonWebKey;
  readonly privateKey: KeyObject;
}

export const issuer = 'https://issuer.test';
export const audience = 'shop';

export class Issuer {
  readonly server: Server;
  /** The response of the address. A text is sent unchanged. */
  published: unknown = { keys: [] };
  status = 200;
  /** The `If-None-Match` of every request for the key set so far. */
  readonly questions: (string | undefined)[] = [];
  /** The response of `/ended-sessions`. */
  ended: unknown = { sessionIds: [], next: '1', keepSeconds: 60 };
  endedStatus = 200;
  /** The path and query of every request for ended sessions so far. */
  readonly endedQuestions: string[] = [];
  url = '';

  constructor() {
    this.server = createServer((request, response) => {
      if (request.url?.startsWith('/ended-sessions')) {
        this.endedQuestions.push(request.url);
        response.writeHead(this.endedStatus).end(JSON.stringify(this.ended));
        return;
      }
      this.questions.push(request.headers['if-none-match']);
      const text = typeof this.published === 'string' ? this.published : JSON.stringify(this.published);
      const etag = `"${hash('sha256', text)}"`;
      const unchanged = request.headers['if-none-match'] === etag;
      response.writeHead(unchanged ? 304 : this.status, { ETag: etag }).end(unchanged ? undefined : text);
    });
  }

  async listen(port = 0): Promise<void> {
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/jwks.json`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

export function keyPair(kid: string, type: 'P-256' | 'P-384' | 'rsa' | 'weak-rsa' | 'ed25519' = 'P-256'): KeyPair {
  const { publicKey, privateKey } = generate(type);
  return { jwk: { ...publicKey.export({ format: 'jwk' }), kid }, privateKey };
}

function generate(type: string): { publicKey: KeyObject; privateKey: KeyObject } {
  if (type === 'ed25519') return generateKeyPairSync('ed25519');
  if (type.endsWith('rsa')) return generateKeyPairSync('rsa', { modulusLength: type === 'rsa' ? 2048 : 1024 });
  return generateKeyPairSync('ec', { namedCurve: type });
}

/** @param expiresIn seconds from now */
export function token(
  { jwk, privateKey }: KeyPair,
  { alg = 'ES256', expiresIn = 900, claims = {} } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ accountId: newId(), scope: 'orders:fulfil catalogue:write', ...claims })
    .setProtectedHeader({ alg, kid: String(jwk.kid), typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('somebody')
    .setJti(newId())
    .setIssuedAt(now - 60)
    .setExpirationTime(now + expiresIn)
    .sign(privateKey);
}
