// The sequence of generated requests.
import fc from 'fast-check';
import type { PlannedRequest } from './requests.ts';

/** Requests that are generated together. */
const generated = 1_000;
/** How often each generated part is used. */
const uses = 4;
const chunk = generated * uses;

export interface PlannedPart {
  /** The number of the first request. */
  readonly from: number;
  readonly count: number;
  readonly seed: number;
}

/** The planned requests with their numbers. The same seed has the same request at a number. */
export function* plannedRequests(
  requests: fc.Arbitrary<PlannedRequest>,
  { from, count, seed }: PlannedPart,
): Generator<[number, PlannedRequest]> {
  for (let first = from - (from % chunk); first < from + count; first += chunk) {
    // Chunks of different seeds have different seeds.
    const some = fc.sample(requests, { numRuns: generated, seed: (seed * 1_000_003 + first / chunk) % 2 ** 31 });
    for (const [offset, plan] of combined(some).entries()) {
      const index = first + offset;
      if (index >= from && index < from + count) yield [index, plan];
    }
  }
}

/**
 * Uses each part of each request in several requests of its operation, each time with other parts. This costs a
 * fraction of the time in which as many requests are generated.
 */
function combined(plans: readonly PlannedRequest[]): PlannedRequest[] {
  const byOperation = Map.groupBy(plans, ({ operation }) => operation);
  const places = [...byOperation.values()].flatMap((own) => own.map((plan, place) => [plan, { own, place }] as const));
  const placeOf = new Map(places);
  return Array.from({ length: uses }, (_, use) =>
    plans.map((plan) => {
      const { own, place } = placeOf.get(plan) ?? { own: [plan], place: 0 };
      const other = (steps: number): PlannedRequest => own[(place + use * steps) % own.length] ?? plan;
      const [{ query }, { headers }, { body }, { caller }] = [other(1), other(2), other(3), other(5)];
      return { ...plan, query, headers, body, caller };
    }),
  ).flat();
}
