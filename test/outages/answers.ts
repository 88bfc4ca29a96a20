// Compares every reply with the permitted ones, in normal operation and while a dependency is unavailable.
import type { Interrupts } from './fault.ts';
import type { Recorded } from './journal.ts';

/** A fault, and the time in which it may have affected an order. */
export interface Interruption {
  readonly interrupts: Interrupts;
  readonly from: number;
  readonly until: number;
}

const expected = new Set([200, 201, 409, 422, 429]);
const unavailable = new Set([502, 503, 504]);

export function answerViolations(answers: readonly Recorded[], interruption: Interruption): string[] {
  return answers.flatMap((answer) => {
    const fault = faultOf(answer, interruption);
    return fault === undefined
      ? []
      : [`asked to ${answer.asked}: ${fault}: ${answer.status} ${answer.body.slice(0, 300)}`];
  });
}

function faultOf(answer: Recorded, { interrupts, from, until }: Interruption): string | undefined {
  const { status, type, retryAfter } = answer;
  const interrupted = interrupts !== 'nothing' && answer.until >= from && answer.at <= until;
  if (status === 0)
    return interrupted && interrupts === 'gateway' ? undefined : 'no answer while the gateway was there';
  if (unavailable.has(status) && !interrupted) return 'refused while nothing that it needs was away';
  if (!unavailable.has(status) && !expected.has(status)) return 'answered as it never should be';
  if (type !== (status < 300 ? 'application/json' : 'application/problem+json')) return `answered as ${type}`;
  return status === 503 && retryAfter === null ? 'refused without Retry-After' : undefined;
}
