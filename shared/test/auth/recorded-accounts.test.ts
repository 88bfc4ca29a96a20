// The calls from the verifier of access tokens to accounts, against the recordings in ../contracts/accounts.yaml.
// Accounts does not run.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTokenVerifier, type TokenVerifier } from '../../src/auth/index.ts';
import { createLog, newId } from '../../src/runtime/index.ts';
import { eventually } from '../../src/testing/eventually.ts';
import { type RecordedService, startRecordedService } from '../../src/testing/index.ts';
import { audience, issuer, keyPair, token } from './issuer.ts';

const pair = keyPair('the-key');
const session = newId();
let accounts: RecordedService;
let verifier: TokenVerifier;

beforeAll(async () => {
  const { x, y } = pair.jwk;
  const texts = { kid: 'the-key', x: String(x), y: String(y), session, next: '12' };
  accounts = await startRecordedService('shared', 'accounts', texts);
  accounts.given('a session has ended');
  const jwksUrl = `${accounts.url}/.well-known/jwks.json`;
  verifier = createTokenVerifier({ jwksUrl, issuer, audience, log: createLog('test', 'silent') });
});
afterAll(async () => {
  await verifier?.close();
  await accounts?.close();
});

it('the verifier accepts a token that is signed with a published key', async () => {
  const valid = await token(pair, { claims: { sid: newId() } });
  expect(await verifier.verify(`Bearer ${valid}`)).toBeDefined();
});

it('the verifier rejects a token of a session that has ended', async () => {
  const ended = await token(pair, { claims: { sid: session } });
  await expect(verifier.verify(`Bearer ${ended}`)).rejects.toMatchObject({ code: 'unauthenticated' });
});

it('the verifier agrees with the recordings in every call, and sends every recorded call', async () => {
  await eventually(() => expect(accounts.deviations()).toEqual([]));
});
