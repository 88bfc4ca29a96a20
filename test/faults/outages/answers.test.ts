// Replies that no fault permits are found, and failures count for the recovery.
import { expect, it } from '@jest/globals';
import { answerViolations, type Interruption, noInterruption } from './answers.ts';
import type { Interrupts } from './fault.ts';
import type { Recorded } from './journal.ts';
import { lastFailure } from './rounds.ts';

const reply = (status: number, code: string, at = 100, until = 200): Recorded => ({
  at,
  until,
  asked: 'order',
  status,
  type: 'application/problem+json',
  body: `{"code":"${code}"}`,
  retryAfter: '1',
  replayed: false,
});
const during = (interrupts: Interrupts): Interruption => ({ interrupts, from: 0, until: 150 });

it.each([
  [409, 'insufficient-stock'],
  [409, 'order-already-shipped'],
  [409, 'hold-limit'],
  [422, 'idempotency-key-reused'],
  [503, 'service-unavailable'],
])('the check of responses finds a request that was rejected in normal operation: %d %s', (status, code) => {
  expect(answerViolations([reply(status, code)], noInterruption)).toEqual([
    expect.stringMatching(`^asked to order: .*: ${status} .*${code}`),
  ]);
});

it('the check of responses permits error responses that the requests cause on purpose, and no others', () => {
  const replies = ['request-in-progress', 'insufficient-stock', 'hold-limit'].map((code) => reply(409, code));
  const found = answerViolations(replies, noInterruption, ['insufficient-stock']);
  expect(found).toEqual([expect.stringContaining('hold-limit')]);
});

it.each<[Interrupts, readonly number[]]>([
  ['nothing', []],
  ['database', [503, 504]],
  ['service', [502, 503, 504]],
  ['gateway', [0, 502, 503, 504]],
])('the check of responses permits failures by what the fault interrupts: %s %j', (interrupts, permitted) => {
  const failures = [0, 500, 502, 503, 504];
  const isPermitted = (status: number, at = 100) =>
    answerViolations([reply(status, 'code', at)], during(interrupts)).length === 0;
  expect(failures.filter((status) => isPermitted(status))).toEqual(permitted);
  expect(failures.filter((status) => isPermitted(status, 151))).toEqual([]);
});

it('the check of responses counts the failure that ends last, also when its request began before the end of the fault', () => {
  const failures = [reply(503, 'code', 90, 400), reply(503, 'code', 50, 60), reply(503, 'code', 110, 500)];
  expect(lastFailure([...failures, reply(200, '', 600, 700)], 100)).toBe(400);
  expect(lastFailure(failures, 120)).toBe(500);
  expect(lastFailure([], 100)).toBe(0);
});
