// Access tokens of sessions that ended: the list that the issuer names in its key set.
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EndedSessions } from '../../src/auth/ended-sessions.ts';
import { createTokenVerifier, type TokenVerifier } from '../../src/auth/index.ts';
import { createLog, newId } from '../../src/runtime/index.ts';
import { eventually } from '../../src/testing/eventually.ts';
import { audience, Issuer, issuer, keyPair, token } from './issuer.ts';

const pair = keyPair('one');
const address = 'ended-sessions';
let keySet: Issuer;
const verifiers: TokenVerifier[] = [];

beforeEach(async () => {
  keySet = new Issuer();
  keySet.published = { keys: [pair.jwk], ended_sessions: address };
  await keySet.listen();
});
afterEach(async () => {
  await Promise.all(verifiers.splice(0).map((verifier) => verifier.close()));
  await keySet.close();
});

function verifier(): TokenVerifier {
  const made = createTokenVerifier({ jwksUrl: keySet.url, issuer, audience, log: createLog('test', 'silent') });
  verifiers.push(made);
  return made;
}

const header = async (claims: object) => `Bearer ${await token(pair, { claims })}`;
const list = (...sessionIds: string[]) => ({ sessionIds, next: '7', keepSeconds: 60 });
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'passed',
    (problem) => problem.code,
  );

describe('a token of a session that ended', () => {
  it('a token of a session that ended is rejected within 2 s although it was verified before, and tokens of other sessions are not', async () => {
    const tokens = verifier();
    const [ended, other, without] = [
      await header({ sid: 'a' }),
      await header({ sid: 'b' }),
      await header({ sid: undefined }),
    ];
    expect(await tokens.verify(ended)).toMatchObject({ sessionId: 'a' });
    expect(await tokens.verify(without)).toMatchObject({ sessionId: undefined });
    keySet.ended = list('a');
    const endedAt = performance.now();
    await eventually(async () => expect(await refusal(tokens.verify(ended))).toBe('unauthenticated'));
    expect(performance.now() - endedAt).toBeLessThan(2_000);
    expect(await refusal(tokens.verify(await header({ sid: 'a' })))).toBe('unauthenticated');
    expect(await tokens.verify(other)).toBeDefined();
    expect(await tokens.verify(without)).toBeDefined();
  });

  it('the response for a token of an ended session states why it is rejected', async () => {
    keySet.ended = list('a');
    const problem = await verifier()
      .verify(await header({ sid: 'a' }))
      .catch((error) => error);
    const detail = 'The session of this access token has ended. Log in again.';
    const challenge = `Bearer realm="shop", error="invalid_token", error_description="${detail}"`;
    expect(problem).toMatchObject({ status: 401, message: detail, headers: { 'WWW-Authenticate': challenge } });
  });

  it('a token of an ended session is rejected from the first response of a new verifier on', async () => {
    keySet.ended = list('a');
    for (let round = 0; round < 5; round += 1) {
      expect(await refusal(verifier().verify(await header({ sid: 'a' })))).toBe('unauthenticated');
    }
  });

  it('a token of an ended session stays rejected while the list is unavailable or later lists omit it', async () => {
    keySet.ended = list('a');
    const tokens = verifier();
    const ended = await header({ sid: 'a' });
    expect(await refusal(tokens.verify(ended))).toBe('unauthenticated');
    keySet.ended = list();
    keySet.endedStatus = 503;
    await setTimeout(1_500);
    expect(await refusal(tokens.verify(ended))).toBe('unauthenticated');
    expect(await tokens.verify(await header({ sid: 'b' }))).toBeDefined();
    keySet.endedStatus = 200;
    await setTimeout(1_500);
    expect(await refusal(tokens.verify(ended))).toBe('unauthenticated');
  });
});

describe('the list', () => {
  it('the list of ended sessions is read from the cursor of the last response', async () => {
    await verifier().verify(await header({ sid: 'a' }));
    keySet.ended = { ...list(), next: '12' };
    await eventually(() =>
      expect(keySet.endedQuestions.slice(0, 3)).toEqual([
        '/ended-sessions',
        '/ended-sessions?since=1',
        '/ended-sessions?since=12',
      ]),
    );
  });

  it('the list of ended sessions has to be complete before the first token is accepted', async () => {
    keySet.endedStatus = 503;
    const tokens = verifier();
    const valid = await header({ sid: 'b' });
    expect(await refusal(tokens.verify(valid))).toBe('service-unavailable');
    keySet.endedStatus = 200;
    await eventually(async () => expect(await refusal(tokens.verify(valid))).toBe('passed'));
  });

  it.each([
    ['is no object', []],
    ['has no next', { sessionIds: [], keepSeconds: 60 }],
    ['has ids that are no texts', { sessionIds: [1], next: '1', keepSeconds: 60 }],
    ['keeps nothing', { sessionIds: [], next: '1', keepSeconds: 0 }],
    ['keeps for ever', { sessionIds: [], next: '1', keepSeconds: 1e9 }],
  ])('the list of ended sessions is rejected when it %s', async (_fault, answer) => {
    keySet.ended = answer;
    expect(await refusal(verifier().verify(await header({})))).toBe('service-unavailable');
  });

  it('the list of ended sessions is not fetched from another origin', async () => {
    keySet.published = { keys: [pair.jwk], ended_sessions: 'http://127.0.0.1:9/ended-sessions' };
    expect(await refusal(verifier().verify(await header({})))).toBe('service-unavailable');
  });

  it('the list of ended sessions may be missing: tokens are valid as before', async () => {
    keySet.endedStatus = 404;
    expect(await verifier().verify(await header({ sid: 'a' }))).toBeDefined();
  });

  it('the list of ended sessions is not requested when the key set does not name it', async () => {
    keySet.published = { keys: [pair.jwk] };
    expect(await verifier().verify(await header({ sid: 'a' }))).toBeDefined();
    await setTimeout(1_200);
    expect(keySet.endedQuestions).toEqual([]);
  });
});

describe('the sessions that are kept', () => {
  it('stored sessions are dropped when their tokens have expired', async () => {
    const ended = new EndedSessions();
    ended.add({ sessionIds: ['a', 'b'], next: '1', keepSeconds: 0.2 });
    ended.add({ sessionIds: ['b', 'c'], next: '1', keepSeconds: 60 });
    expect(ended.size).toBe(3);
    await setTimeout(300);
    ended.add({ sessionIds: [], next: '1', keepSeconds: 60 });
    expect([ended.size, ended.has('a'), ended.has('c')]).toEqual([1, false, true]);
  });

  it('at most 100,000 sessions are stored, and the latest stay', () => {
    const ended = new EndedSessions();
    const ids = Array.from({ length: 100_001 }, newId);
    ended.add({ sessionIds: ids, next: '1', keepSeconds: 60 });
    ended.add({ sessionIds: ['last'], next: '1', keepSeconds: 60 });
    expect(ended.size).toBe(100_000);
    expect([ids[0], ids[1], ids[2], 'last'].map((id = '') => ended.has(id))).toEqual([false, false, true, true]);
  });
});

describe('a claim sid', () => {
  it.each([[5], [''], [null], [['a']], ['x'.repeat(256)]])(
    'a claim sid that is %j makes the token invalid',
    async (sid) => {
      expect(await refusal(verifier().verify(await header({ sid })))).toBe('unauthenticated');
    },
  );
});
