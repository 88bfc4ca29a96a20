// The count of failed attempts, over the end of its minute.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createLog } from '@shop/shared/runtime';
import { openCounters } from '../plugin/counters.ts';
import type { GatewayResponse } from '../plugin/exchange.ts';
import { FailedAttempts } from '../plugin/failed-attempts.ts';

const body = Buffer.from('{"email":"anna@shop.test"}');
let attempts: FailedAttempts;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick'] });
  attempts = new FailedAttempts(openCounters(undefined, createLog('test', 'silent')), 'logIn', 30);
});
afterEach(() => {
  jest.useRealTimers();
});

/** An attempt that the service answers with `statusCode` once `finish` is called. */
async function attempt(statusCode: number): Promise<{ passed: boolean; finish: () => void }> {
  const response = Object.assign(new EventEmitter(), { statusCode }) as unknown as GatewayResponse;
  const refusal = await attempts.watch(body, response).catch((problem: unknown) => problem);
  return { passed: refusal === undefined, finish: () => response.emit('finish') };
}

async function passing(count: number, statusCode: number): Promise<number> {
  let passed = 0;
  for (let index = 0; index < count; index += 1) {
    const made = await attempt(statusCode);
    made.finish();
    if (made.passed) passed += 1;
  }
  return passed;
}

it('gives nothing back to the next minute', async () => {
  const slow = await Promise.all(Array.from({ length: 20 }, () => attempt(200)));
  jest.advanceTimersByTime(60_001);
  for (const { finish } of slow) finish();
  expect(await passing(80, 401)).toBe(30);
});

it('gives nothing back for what was refused', async () => {
  expect(await passing(30, 401)).toBe(30);
  expect(await passing(50, 200)).toBe(0);
  expect(await passing(1, 401)).toBe(0);
  jest.advanceTimersByTime(60_001);
  expect(await passing(80, 401)).toBe(30);
});

it('gives back what succeeded within its minute', async () => {
  const slow = await Promise.all(Array.from({ length: 30 }, () => attempt(200)));
  jest.advanceTimersByTime(30_000);
  for (const { finish } of slow) finish();
  expect(await passing(80, 401)).toBe(30);
});
