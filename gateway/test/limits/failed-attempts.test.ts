// The count of failed attempts across the end of its minute.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLog } from '@shop/shared/runtime';
import type { GatewayResponse } from '../../src/entry/gateway-request.ts';
import { FailedAttempts } from '../../src/limits/failed-attempts.ts';
import { openRateLimitStore } from '../../src/limits/rate-limit-store.ts';

const body = Buffer.from('{"email":"anna@shop.test"}');
let attempts: FailedAttempts;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick'] });
  attempts = new FailedAttempts(openRateLimitStore(undefined, createLog('test', 'silent')), 'logIn', {
    failuresPerEmailAndAddress: 30,
  });
});
afterEach(() => {
  jest.useRealTimers();
});

/** An attempt that the service answers with `statusCode` once `finish` is called. */
async function attempt(statusCode: number, client = '192.0.2.1'): Promise<{ passed: boolean; finish: () => void }> {
  const response = Object.assign(new EventEmitter(), { statusCode, req: {} }) as unknown as GatewayResponse;
  const refusal = await attempts.watch(body, client, response).catch((problem: unknown) => problem);
  return { passed: refusal === undefined, finish: () => response.emit('finish') };
}

async function passing(count: number, statusCode: number, client?: string): Promise<number> {
  let passed = 0;
  for (let index = 0; index < count; index += 1) {
    const made = await attempt(statusCode, client);
    made.finish();
    if (made.passed) passed += 1;
  }
  return passed;
}

it('the limit of failed attempts does not subtract a count from the next minute', async () => {
  const slow = await Promise.all(Array.from({ length: 20 }, () => attempt(200)));
  jest.advanceTimersByTime(60_001);
  for (const { finish } of slow) finish();
  expect(await passing(80, 401)).toBe(30);
});

it('the limit of failed attempts keeps the count of a rejected attempt', async () => {
  expect(await passing(30, 401)).toBe(30);
  expect(await passing(50, 200)).toBe(0);
  expect(await passing(1, 401)).toBe(0);
  jest.advanceTimersByTime(60_001);
  expect(await passing(80, 401)).toBe(30);
});

it('the limit of failed attempts subtracts the count of a successful attempt within its minute', async () => {
  const slow = await Promise.all(Array.from({ length: 30 }, () => attempt(200)));
  jest.advanceTimersByTime(30_000);
  for (const { finish } of slow) finish();
  expect(await passing(80, 401)).toBe(30);
});

it('the limit of failed attempts counts the failures of a client id apart from those of an e-mail address', async () => {
  const counters = openRateLimitStore(undefined, createLog('test', 'silent'));
  const limit = new FailedAttempts(counters, 'logIn', { failuresPerEmail: 2 });
  const passes = async (text: object) => {
    const response = Object.assign(new EventEmitter(), { statusCode: 401, req: {} }) as unknown as GatewayResponse;
    const refusal = await limit.watch(Buffer.from(JSON.stringify(text)), '192.0.2.1', response).catch((it) => it);
    return refusal === undefined;
  };
  const machine = { grant_type: 'client_credentials', client_id: 'one', client_secret: 'wrong' };
  expect([await passes(machine), await passes(machine), await passes(machine)]).toEqual([true, true, false]);
  expect(await passes({ ...machine, client_id: 'two' })).toBe(true);
  expect(await passes({ email: 'one', password: 'wrong' })).toBe(true);
  expect(await passes({ email: 'client one', password: 'wrong' })).toBe(true);
});

describe('the owner of an account', () => {
  beforeEach(() => {
    const counters = openRateLimitStore(undefined, createLog('test', 'silent'));
    attempts = new FailedAttempts(counters, 'logIn', { failuresPerEmail: 60, failuresPerEmailAndAddress: 30 });
  });

  const own = '203.0.113.7';

  it('the owner of an account is not rejected for the failures of others after a success from the same address', async () => {
    expect(await passing(1, 200, own)).toBe(1);
    expect(await passing(40, 401, '192.0.2.1')).toBe(30);
    expect(await passing(40, 401, '192.0.2.2')).toBe(30);
    expect(await passing(5, 401, '192.0.2.3')).toBe(0);
    expect(await passing(5, 200, own)).toBe(5);
    jest.advanceTimersByTime(29 * 24 * 60 * 60 * 1_000);
    expect(await passing(100, 401, '192.0.2.1')).toBe(30);
    expect(await passing(100, 401, '192.0.2.2')).toBe(30);
    expect(await passing(1, 200, own)).toBe(1);
  });

  it('the owner of an account has the same bound of failures from one address as others', async () => {
    expect(await passing(1, 200, own)).toBe(1);
    expect(await passing(40, 401, own)).toBe(30);
  });

  it('the client of an account owner is remembered for 30 days after a success, and not after a failure', async () => {
    expect(await passing(1, 200, own)).toBe(1);
    jest.advanceTimersByTime(31 * 24 * 60 * 60 * 1_000);
    expect(await passing(100, 401, '192.0.2.1')).toBe(30);
    expect(await passing(100, 401, '192.0.2.2')).toBe(30);
    expect(await passing(1, 200, own)).toBe(0);
    expect(await passing(5, 200, '192.0.2.1')).toBe(0);
  });
});

describe('an operation whose answer is always the same', () => {
  it('an operation with a constant response counts every attempt, and exempts no client that succeeded', async () => {
    const counters = openRateLimitStore(undefined, createLog('test', 'silent'));
    attempts = new FailedAttempts(counters, 'reset', { failuresPerEmail: 12, failuresPerEmailAndAddress: 5 }, 'every');
    expect(await passing(10, 202, '192.0.2.1')).toBe(5);
    expect(await passing(10, 202, '192.0.2.2')).toBe(5);
    expect(await passing(10, 202, '192.0.2.3')).toBe(2);
    jest.advanceTimersByTime(60_001);
    expect(await passing(1, 202, '192.0.2.1')).toBe(1);
  });
});
