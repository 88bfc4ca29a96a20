// What happened to one order, asked of the services with the operator's own token: they decide whether he may know.
import { Problem } from '@shop/shared/protocol';
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
 * The order's state and its steps in orders and catalogue, by time.
 * @throws Problem 404 for an unknown order, 503 when a service does not answer
 */
export async function traceOrder(services: UpstreamDirectory, request: GatewayRequest, id: string): Promise<object> {
  const order = await ask<Steps & { reservationId: string }>(
    services,
    'orders',
    `/internal/orders/${id}/trace`,
    request,
  );
  if (order === undefined) throw new Problem('not-found', 'There is no such order.');
  const { reservationId, steps: ofOrder, ...rest } = order;
  const stock = await ask<Steps>(services, 'catalogue', `/internal/reservations/${reservationId}/trace`, request);
  const named = (service: string, steps: readonly Step[] = []) => steps.map((step) => ({ service, ...step }));
  const steps = [...named('orders', ofOrder), ...named('catalogue', stock?.steps)];
  return { ...rest, steps: steps.sort((a, b) => a.at.localeCompare(b.at)) };
}

/** Undefined when the service knows of no such thing. */
async function ask<T>(
  services: UpstreamDirectory,
  name: string,
  path: string,
  request: GatewayRequest,
): Promise<T | undefined> {
  const service = services.all.find((one) => one.name === name);
  if (service === undefined) throw new Error(`the configuration has no service ${name}`);
  try {
    const { statusCode, body } = await service.choose().pool.request({
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
    throw service.unavailable(1_000, cause);
  }
}
