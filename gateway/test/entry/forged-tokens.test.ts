// No forged token is accepted, and none makes the gateway send a request to another host.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request } from 'undici';
import { forge, type Genuine, goodClaims, goodHeader, signed } from '../forgery/index.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
let genuine: Genuine;
const asked: string[] = [];
const servers: Server[] = [];

beforeAll(async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'genuine-1', alg: 'ES256', use: 'sig' }];
  const jwksUrl = await serve((_url) => JSON.stringify({ keys }));
  const trap = await serve((url) => {
    asked.push(url);
    return '{}';
  });
  const names = { issuer: 'https://shop.test', audience: 'shop', kid: 'genuine-1' };
  genuine = { ...names, privateKey, publicKey, trap };
  gateway = await startGateway({ JWKS_URL: jwksUrl, TRUSTED_PROXIES: '1' });
});

afterAll(async () => {
  await gateway.stop();
  for (const server of servers) server.close().closeAllConnections();
});

it('the gateway accepts the genuine token', async () => {
  const token = signed(goodHeader(genuine), goodClaims(genuine), genuine.privateKey);
  expect(await answerTo(`Bearer ${token}`)).toMatchObject({ status: 200 });
});

it('the gateway returns 401 for every forged token, and sends no request to a service or a foreign host', async () => {
  const forgeries = forge(genuine).filter(({ authorization }) => /^[\t\x20-\x7e\x80-\xff]*$/.test(authorization));
  expect(forgeries.length).toBeGreaterThan(1_000);
  gateway.service.seen.length = 0;
  const passed: string[] = [];
  for (const { trick, authorization } of forgeries) {
    const { status, code, challenge } = await answerTo(authorization);
    // Credentials of another scheme are no token, so the challenge names no error (RFC 6750 section 3.1).
    const expected = /^bearer(?: |$)/i.test(authorization)
      ? /^Bearer realm="shop", error="invalid_token"/
      : /^Bearer realm="shop"$/;
    if (status !== 401 || code !== 'unauthenticated' || !expected.test(challenge)) {
      passed.push(`${trick}: ${status} ${code} ${challenge}`);
    }
  }
  expect(passed).toEqual([]);
  expect(asked).toEqual([]);
  expect(gateway.service.seen).toEqual([]);
});

let turn = 0;

/** Each attempt has another client address, because one address would reach its rate limit. */
async function answerTo(authorization: string): Promise<{ status: number; code: string; challenge: string }> {
  turn += 1;
  const fields = { authorization, 'x-forwarded-for': `203.0.113.${turn % 250}` };
  const { statusCode, headers, body } = await request(`${gateway.url}/v1/orders`, { headers: fields });
  const { code } = (await body.json()) as { code: string };
  return { status: statusCode, code, challenge: String(headers['www-authenticate']) };
}

async function serve(answer: (url: string) => string): Promise<string> {
  const server = createServer((message, response) => response.end(answer(message.url ?? '')));
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
