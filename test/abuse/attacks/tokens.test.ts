// Invalid signatures and access tokens: test vectors for the primitive of the verifier, and forged tokens for each
// service.
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServiceName } from '@shop/shared/shop';
import { startServices, type TestServices } from '@shop/shared/testing';
import { importSPKI } from 'jose';
import { request } from 'undici';
import { forge, type Genuine, goodClaims, goodHeader, signed } from '../../../gateway/test/forgery/index.ts';
import { report } from './report.ts';

type Vector = readonly [number: number, comment: string, der: string, key: number, message: string, valid: boolean];

const { keys, vectors } = JSON.parse(readFileSync(new URL('data/ecdsa-p256-sha256.json', import.meta.url), 'utf8')) as {
  readonly keys: readonly string[];
  readonly vectors: readonly Vector[];
};

/** The parameters with which jose verifies ES256 (RFC 7518 section 3.4). */
const es256 = { name: 'ECDSA', hash: 'SHA-256' };

/** The two integers of a DER signature, parsed leniently; undefined when there are none. */
function integersOf(der: Buffer): readonly bigint[] | undefined {
  const integers: bigint[] = [];
  let at = 2;
  while (at + 2 <= der.length && integers.length < 2) {
    if (der[at] !== 2) return undefined;
    const length = der[at + 1] ?? 0;
    const bytes = der.subarray(at + 2, at + 2 + length);
    if (length === 0 || bytes.length < length) return undefined;
    integers.push(BigInt(`0x${bytes.toString('hex')}`));
    at += 2 + length;
  }
  return integers.length === 2 ? integers : undefined;
}

/** The signature in the form of JWS, two integers of 32 bytes; undefined for an integer that needs more. */
function toJws(integers: readonly bigint[] | undefined): Buffer | undefined {
  if (integers === undefined || integers.some((integer) => integer >= 1n << 256n)) return undefined;
  return Buffer.from(integers.map((integer) => integer.toString(16).padStart(64, '0')).join(''), 'hex');
}

describe('signature vectors', () => {
  it('signature vectors verify exactly when they are valid, and only in JWS compact serialization', async () => {
    const through: string[] = [];
    let tried = 0;
    let accepted = 0;
    const imported = await Promise.all(
      keys.map((key) => {
        const pem = Buffer.from(key, 'hex').toString('base64');
        return importSPKI(`-----BEGIN PUBLIC KEY-----\n${pem}\n-----END PUBLIC KEY-----`, 'ES256').catch(
          () => undefined,
        );
      }),
    );
    const content = (key: number, message: string, integers: readonly bigint[] | undefined): string =>
      `${key} ${message} ${integers?.join(' ')}`;
    const right = new Set(
      vectors.flatMap(([, , der, key, message, valid]) =>
        valid ? [content(key, message, integersOf(Buffer.from(der, 'hex')))] : [],
      ),
    );
    for (const [number, comment, der, key, message, valid] of vectors) {
      const publicKey = imported[key];
      const bytes = Buffer.from(der, 'hex');
      const form = toJws(integersOf(bytes));
      for (const signature of [bytes, ...(form === undefined ? [] : [form])]) {
        tried += 1;
        const passes =
          publicKey !== undefined &&
          (await webcrypto.subtle.verify(es256, publicKey, signature, Buffer.from(message, 'hex')));
        if (passes && signature === form) accepted += 1;
        // An invalid vector may be invalid only in its DER encoding. Its integers are then those of a valid one.
        const isRight = signature === form && right.has(content(key, message, integersOf(bytes)));
        if (passes && !isRight) through.push(`vector ${number}: ${comment}`);
        if (!passes && signature === form && valid) through.push(`valid vector ${number} is refused: ${comment}`);
      }
    }
    expect(accepted).toBeGreaterThan(100);
    report('signature vectors', tried, through);
  });
});

describe('forged access tokens', () => {
  const names = ['accounts', 'orders', 'catalogue'] as const satisfies readonly ServiceName[];
  const targets = {
    accounts: ['GET', '/v1/accounts/me'],
    orders: ['GET', '/v1/orders'],
    catalogue: ['POST', '/v1/products'],
  } as const;
  const servers: Server[] = [];
  const asked: string[] = [];
  let services: TestServices;
  let genuine: Genuine;

  const serve = async (answer: (url: string) => string): Promise<string> => {
    const server = createServer((incoming, response) => response.end(answer(incoming.url ?? '')));
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  };

  beforeAll(async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const published = [{ ...publicKey.export({ format: 'jwk' }), kid: 'genuine-1', alg: 'ES256', use: 'sig' }];
    const jwksUrl = await serve(() => JSON.stringify({ keys: published }));
    const trap = await serve((url) => {
      asked.push(url);
      return '{}';
    });
    services = await startServices(names, { environment: { JWKS_URL: jwksUrl } });
    genuine = { issuer: 'https://shop.test', audience: 'shop', kid: 'genuine-1', privateKey, publicKey, trap };
  });
  afterAll(async () => {
    await services?.stop();
    for (const server of servers) server.close().closeAllConnections();
  });

  async function answerTo(name: (typeof names)[number], authorization: string) {
    const [method, path] = targets[name];
    const { statusCode, body } = await request(`${services.service(name).url}${path}`, {
      method,
      headers: { authorization, ...(method === 'POST' && { 'content-type': 'application/json' }) },
      body: method === 'POST' ? '{}' : null,
    });
    const { code } = (await body.json()) as { code?: string };
    return { statusCode, code };
  }

  it('forged access tokens are rejected by every service itself, and keys are requested from no foreign address', async () => {
    const good = `Bearer ${signed(goodHeader(genuine), goodClaims(genuine), genuine.privateKey)}`;
    for (const name of names) expect((await answerTo(name, good)).statusCode).not.toBe(401);
    const forgeries = forge(genuine).filter(({ authorization }) => /^[\t\x20-\x7e\x80-\xff]*$/.test(authorization));
    const through: string[] = [];
    for (const { trick, authorization } of forgeries) {
      const answers = await Promise.all(names.map((name) => answerTo(name, authorization)));
      for (const [index, { statusCode, code }] of answers.entries())
        if (statusCode !== 401 || code !== 'unauthenticated')
          through.push(`${names[index]}: ${trick}: ${statusCode} ${code}`);
    }
    expect(asked).toEqual([]);
    report('forged access tokens', forgeries.length * names.length, through);
  });
});
