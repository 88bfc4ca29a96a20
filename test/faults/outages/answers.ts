// Compares every reply with the permitted ones, in normal operation and while a dependency is unavailable.
import type { ProblemCode } from '@shop/shared/problem';
import type { Interrupts } from './fault.ts';
import type { Recorded } from './journal.ts';

/** A fault, and the time in which it may have affected an order. */
export interface Interruption {
  readonly interrupts: Interrupts;
  readonly from: number;
  readonly until: number;
}

/** Normal operation. */
export const noInterruption: Interruption = { interrupts: 'nothing', from: 0, until: 0 };

const expected = new Set([200, 201, 429]);
/**
 * The refusals in every round: of a request that is still running, of a payment after a unit was cancelled, and of an
 * order whose discount was used up, or was used up since its quote.
 */
const refusals: readonly ProblemCode[] = [
  'request-in-progress',
  'payment-amount-differs',
  'discount-not-applicable',
  'price-changed',
];
const unavailable = [502, 503, 504];
/** What a fault interrupts → the statuses that are permitted meanwhile; 0 stands for no reply. */
const permitted: Readonly<Record<Interrupts, readonly number[]>> = {
  nothing: [],
  database: [503, 504],
  service: unavailable,
  gateway: [0, ...unavailable],
};

/**
 * Returns a line for each reply that is not permitted.
 * @param further the other refusals with 409 that these requests cause on purpose
 */
export function answerViolations(
  answers: readonly Recorded[],
  interruption: Interruption,
  further: readonly ProblemCode[] = [],
): string[] {
  const codes = [...refusals, ...further].map((code) => `"code":"${code}"`);
  return answers.flatMap((answer) => {
    const isRefusal = answer.status === 409 && codes.some((code) => answer.body.includes(code));
    const fault = isRefusal ? formFault(answer) : faultOf(answer, interruption);
    return fault === undefined
      ? []
      : [`asked to ${answer.asked}: ${fault}: ${answer.status} ${answer.body.slice(0, 300)}`];
  });
}

function faultOf(answer: Recorded, { interrupts, from, until }: Interruption): string | undefined {
  const { status } = answer;
  const isPermitted = answer.until >= from && answer.at <= until && permitted[interrupts].includes(status);
  if (status === 0) return isPermitted ? undefined : 'no answer while the gateway was there';
  if (unavailable.includes(status) && !isPermitted) return 'refused while nothing that it needs was away';
  return isPermitted || expected.has(status) ? formFault(answer) : 'answered as it never should be';
}

function formFault({ status, type, retryAfter }: Recorded): string | undefined {
  if (type !== (status < 300 ? 'application/json' : 'application/problem+json')) return `answered as ${type}`;
  return status === 503 && retryAfter === null ? 'refused without Retry-After' : undefined;
}
