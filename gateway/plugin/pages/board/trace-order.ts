// The history of one order, read from the services with the operator's own token: the services check the permission.
import { Problem } from '@shop/shared/problem';
import type { GatewayRequest } from '../../entry/gateway-request.ts';
import type { UpstreamDirectory } from '../../upstream/upstream.ts';

interface Step {
  readonly at: string;
  readonly what: string;
}

interface Steps {
  readonly steps: readonly Step[];
}

const answerWithin = 3_000;

/**
 * The order's state, and its steps in orders and catalogue in the order of their times.
 * @throws Problem 404 for an unknown order, 503 when a service does not answer
 */
export async function traceOrder(upstreams: UpstreamDirectory, request: GatewayRequest, id: string): Promise<object> {
  const order = await ask<Steps & { reservationId: string }>(
    upstreams,
    'orders',
    `/internal/orders/${id}/trace`,
    request,
  );
  if (order === undefined) throw new Problem('not-found', 'There is no such order.');
  const { reservationId, steps: ofOrder, ...rest } = order;
  const stock = await ask<Steps>(upstreams, 'catalogue', `/internal/reservations/${reservationId}/trace`, request);
  const named = (service: string, steps: readonly Step[] = []) => steps.map((step) => ({ service, ...step }));
  const steps = [...named('orders', ofOrder), ...named('catalogue', stock?.steps)];
  return { ...rest, steps: steps.sort((a, b) => a.at.localeCompare(b.at)) };
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
  try {
    const { statusCode, body } = await upstream.choose().pool.request({
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
    throw upstream.unavailable(1_000, cause);
  }
}
