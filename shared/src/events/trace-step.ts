// The steps of the history of an order, as the services return them and as operators see them.

/** One step of a history in a response. */
export interface TraceStep {
  readonly kind: string;
  readonly at: string;
  readonly what: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

interface Step {
  readonly kind: string;
  readonly at: Date | string;
}

/** The services with steps in the history of an order. Steps with the same time are sorted in this order. */
const tracedServices = ['catalogue', 'orders', 'notifications'] as const;

export type TracedService = (typeof tracedServices)[number];

/** Returns the steps of all services as one history, by time, each with the name of its service. */
export function joinSteps<S extends Step>(
  steps: Readonly<Record<TracedService, readonly S[]>>,
): (S & { readonly service: TracedService })[] {
  return sortSteps(tracedServices.flatMap((service) => steps[service].map((step) => ({ ...step, service }))));
}

/**
 * Sorts steps by time. The steps of one transaction have the same time: the handled event that caused them is first,
 * and the sent events are last. Other steps with the same time retain their order.
 */
export function sortSteps<S extends Step>(steps: readonly S[]): S[] {
  return steps.toSorted((a, b) => Number(new Date(a.at)) - Number(new Date(b.at)) || rankOf(a) - rankOf(b));
}

function rankOf({ kind }: Step): number {
  if (kind === 'delivery') return 0;
  return kind === 'event' ? 2 : 1;
}
