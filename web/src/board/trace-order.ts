// The history of one order, read from the services with the operator's own token: the services check the permission.
import { Problem } from '@shop/shared/problem';
import { joinSteps, type TracedService, type TraceStep } from '@shop/shared/trace';
import type { GatewayConfig } from '../../../gateway/src/entry/gateway-config.ts';
import type { GatewayRequest } from '../../../gateway/src/entry/gateway-request.ts';
import { openUpstream } from '../../../gateway/src/upstream/forward.ts';
import type { UpstreamDirectory } from '../../../gateway/src/upstream/upstream.ts';

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
  /** The services that did not answer, whose steps are missing. */
  readonly missing: readonly TracedService[];
}

const answerWithin = 3_000;
const ofEmails = {
  serviceEndpoint: 'notifications',
  connections: 4,
  connectTimeout: 1_000,
  bodyTimeout: answerWithin,
  isNeeded: false,
} as const;

/** Opens the upstream that only the board asks. A configuration without it shows no e-mails. */
export function openEmailUpstream(upstreams: UpstreamDirectory, config: GatewayConfig): void {
  if (config.serviceEndpoints[ofEmails.serviceEndpoint] !== undefined)
    openUpstream(upstreams, ofEmails, config, answerWithin);
}

/** @throws Problem 404 for an unknown order, 503 when orders does not answer */
export async function traceOrder(
  upstreams: UpstreamDirectory,
  request: GatewayRequest,
  id: string,
): Promise<BoardTrace> {
  const order = await ask<OrderSteps>(upstreams, 'orders', `/internal/orders/${id}/trace`, request);
  if (order === undefined) throw new Problem('not-found', 'There is no such order.');
  const { orderId, accountId, reservationId, status, steps: orders } = order;
  const missing: TracedService[] = [];
  const stepsIn = async (name: TracedService, path: string): Promise<readonly TraceStep[]> => {
    try {
      return (await ask<Steps>(upstreams, name, path, request))?.steps ?? [];
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

/** @returns undefined when the service answers 404 */
async function ask<T>(
  upstreams: UpstreamDirectory,
  name: string,
  path: string,
  request: GatewayRequest,
): Promise<T | undefined> {
  const upstream = upstreams.all.find((one) => one.name === name);
  if (upstream === undefined) throw new Error(`the configuration has no service ${name}`);
  const host = upstream.choose();
  if (host === undefined) throw upstream.unavailable();
  try {
    const { statusCode, body } = await host.pool.request({
      method: 'GET',
      path,
      headers: {
        authorization: request.authorization ?? '',
        'x-request-id': request.id,
        traceparent: request.traceparent,
      },
      signal: AbortSignal.timeout(answerWithin),
    });
    const text = await body.text();
    if (statusCode === 404) return undefined;
    if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}`);
    return JSON.parse(text) as T;
  } catch (cause) {
    throw upstream.unavailable(cause);
  }
}
