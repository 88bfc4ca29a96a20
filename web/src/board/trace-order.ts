// The history of one order, read from the services with the operator's own token: the services check the permission.
import { Problem } from '@shop/shared/problem';
import { joinSteps, type TracedService, type TraceStep } from '@shop/shared/trace';
import type { PageRequest } from '../page.ts';

interface Steps {
  readonly steps: readonly TraceStep[];
}

interface OrderSteps extends Steps {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly status: string;
}

export interface BoardTrace {
  readonly orderId: string;
  readonly accountId: string;
  readonly status: string;
  /** The steps in all services, by time. */
  readonly steps: readonly (TraceStep & { readonly service: TracedService })[];
  /** The services that did not respond; their steps are missing. */
  readonly missing: readonly TracedService[];
}

/**
 * Sends a GET to a service, with the token and the identity of a request.
 * @returns the parsed response; undefined when the service returns 404
 * @throws Problem 503 when the service does not respond
 */
export type AskService = (
  service: string,
  path: string,
  request: Pick<PageRequest, 'authorization' | 'id' | 'traceparent'>,
) => Promise<unknown>;

/** @throws Problem 404 for an unknown order, 503 when orders does not respond */
export async function traceOrder(ask: AskService, request: PageRequest, id: string): Promise<BoardTrace> {
  const order = (await ask('orders', `/internal/orders/${id}/trace`, request)) as OrderSteps | undefined;
  if (order === undefined) throw new Problem('not-found', 'There is no such order.');
  const { orderId, accountId, reservationId, status, steps: orders } = order;
  const missing: TracedService[] = [];
  const stepsIn = async (name: TracedService, path: string): Promise<readonly TraceStep[]> => {
    try {
      return ((await ask(name, path, request)) as Steps | undefined)?.steps ?? [];
    } catch {
      missing.push(name);
      return [];
    }
  };
  const [catalogue, notifications] = await Promise.all([
    stepsIn('catalogue', `/internal/reservations/${reservationId}/trace`),
    stepsIn('notifications', `/internal/orders/${id}/trace`),
  ]);
  return { orderId, accountId, status, steps: joinSteps({ catalogue, orders, notifications }), missing };
}
