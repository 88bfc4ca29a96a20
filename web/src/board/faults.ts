// The faults on the board in causal order: the cause precedes its symptoms.

/** Every kind of fault. A fault can be the effect of an earlier kind in this list, and never of a later kind. */
const fromCauseToSymptom = [
  'database-unreachable',
  'broker-unreachable',
  'process-silent',
  'process-unreachable',
  'check-fails',
  'replica-not-ready',
  'requests-refused',
  'upstream-unavailable',
  'requests-fail',
  'requests-slow',
  'events-unpublished',
  'events-waiting',
  'events-retried',
  'events-given-up',
  'metrics-unavailable',
] as const;

export interface BoardFault {
  readonly kind: (typeof fromCauseToSymptom)[number];
  /** A few words for the picture. */
  readonly what: string;
  /** The recommended action, in one or two sentences. */
  readonly todo: string;
  /** The name of the runbook in docs/runbooks. */
  readonly runbook: string;
}

interface PartWithFaults {
  readonly kind: string;
  readonly name: string;
  readonly faults: readonly BoardFault[];
}

/** One line of the headline: a fault, and the parts that have it. */
export interface Headline extends BoardFault {
  readonly parts: string;
}

/** Sorts faults by kind, causes first. The sort is stable. */
export function causesFirst<Fault extends BoardFault>(faults: readonly Fault[]): Fault[] {
  const rank = ({ kind }: Fault): number => fromCauseToSymptom.indexOf(kind);
  return faults.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the faults of all parts, causes first. Parts with the same fault share a line. */
export function toHeadlines(parts: readonly PartWithFaults[]): Headline[] {
  const faults = parts.flatMap(({ kind, name, faults }) => faults.map((fault) => ({ ...fault, of: kind, name })));
  const lines = Map.groupBy(causesFirst(faults), ({ of, name, ...fault }) => JSON.stringify(fault));
  return [...lines.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { of, name, ...fault } = first;
    const names = [name, ...others.map((other) => other.name)].join(', ');
    return { ...fault, parts: of === 'schema' ? `database of ${names}` : names };
  });
}
