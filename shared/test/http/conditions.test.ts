// Conditional requests (RFC 9110 section 13) to operations with and without a version.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTokenVerifier, type TokenVerifier } from '@shop/shared/auth';
import { loadContract } from '@shop/shared/contract';
import { createApp, toEtag } from '@shop/shared/http';
import { createHealth, createLog, newId } from '@shop/shared/runtime';
import { createClient, startIssuer, type TestClient, type TestIssuer } from '@shop/shared/testing';

const contract = loadContract(new URL('./sample.openapi.yaml', import.meta.url));
let issuer: TestIssuer;
let verifier: TokenVerifier;
let server: Server;
let client: TestClient;
let token: string;
let effects = 0;

beforeAll(async () => {
  issuer = await startIssuer();
  const log = createLog('test', 'silent');
  verifier = createTokenVerifier({ jwksUrl: issuer.jwksUrl, issuer: issuer.issuer, audience: issuer.audience, log });
  const change = async () => {
    effects += 1;
    return { status: 204 };
  };
  const operations = {
    listNotes: async () => ({ status: 200, body: {} }),
    createNote: async () => ({ ...(await change()), status: 201, body: {} }),
    pinNote: change,
    markNote: change,
    getNote: async () => ({ status: 200, body: {}, etag: toEtag(7) }),
  };
  const app = createApp({ name: 'notes', contract, context: {}, verifier, health: createHealth(), log, operations });
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, [contract]);
  token = await issuer.sign({ scopes: ['notes:write'] });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await verifier.close();
  await issuer.close();
});

type Case = readonly [match: string | undefined, noneMatch: string | undefined, status: number];

const headersOf = (match: string | undefined, noneMatch: string | undefined) => ({
  ...(match === undefined ? {} : { 'If-Match': match }),
  ...(noneMatch === undefined ? {} : { 'If-None-Match': noneMatch }),
});

const read: readonly Case[] = [
  ['*', undefined, 200],
  ['"7"', undefined, 200],
  ['"6", "7"', undefined, 200],
  ['"6"', undefined, 412],
  ['"6"', '"7"', 412],
  ['"7"', '"7"', 304],
  [undefined, '*', 304],
  ['"7"', '"6"', 200],
];
/** Of an address that GET can read, and that has no version. */
const represented: readonly Case[] = [
  [undefined, '*', 412],
  [undefined, '"1"', 201],
  ['*', undefined, 201],
  ['*', '*', 412],
  ['"1"', undefined, 412],
];
/** Of an address that GET cannot read. */
const unrepresented: readonly Case[] = [
  [undefined, '*', 204],
  ['*', undefined, 412],
  ['"1"', undefined, 412],
];

describe('a condition', () => {
  it.each(read)(
    'a condition of a GET with If-Match %s and If-None-Match %s returns %i',
    async (match, noneMatch, status) => {
      const answer = await client.get(`/v1/notes/${newId()}`, { token, headers: headersOf(match, noneMatch) });
      expect(answer.status).toBe(status);
    },
  );

  it('a condition of a GET without an entity tag is met by * alone', async () => {
    expect((await client.get('/v1/notes', { headers: { 'If-Match': '*' } })).status).toBe(200);
    expect((await client.get('/v1/notes', { headers: { 'If-Match': '"1"' } })).status).toBe(412);
  });

  it.each(represented)(
    'a condition of a POST to a readable address with If-Match %s and If-None-Match %s returns %i',
    async (match, noneMatch, status) => {
      const before = effects;
      const headers = headersOf(match, noneMatch);
      const answer = await client.post('/v1/notes', { token, body: { text: 'a' }, headers });
      expect([answer.status, effects - before]).toEqual([status, status < 300 ? 1 : 0]);
    },
  );

  it.each(unrepresented)(
    'a condition of a POST to another address with If-Match %s and If-None-Match %s returns %i',
    async (match, noneMatch, status) => {
      const answer = await client.post(`/v1/notes/${newId()}/pin`, { headers: headersOf(match, noneMatch) });
      expect(answer.status).toBe(status);
    },
  );

  it('a condition is evaluated after the other checks of a request', async () => {
    const headers = { 'If-None-Match': '*' };
    expect((await client.post('/v1/notes', { body: { text: 'a' }, headers })).status).toBe(401);
    expect((await client.post('/v1/notes', { token, body: {}, headers })).status).toBe(400);
  });
});
