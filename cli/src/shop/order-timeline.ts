// The history of one order in orders, catalogue and notifications, by time. The shop may be stopped.
import { traceReservation } from '@shop/catalogue/operator';
import { traceEmails } from '@shop/notifications/operator';
import { type OrderTrace, traceOrder } from '@shop/orders/operator';
import { type HistoryStep, sortSteps } from '@shop/shared/events';
import type { ServiceName } from '@shop/shared/runtime';
import type { OpenShop } from './open-shop.ts';
import { operatorEnvironment } from './processes.ts';

export interface TimelineStep extends HistoryStep {
  readonly service: ServiceName;
}

export interface Timeline extends OrderTrace {
  readonly steps: readonly TimelineStep[];
}

/** Returns undefined when the order does not exist. */
export async function readTimeline(shop: OpenShop, orderId: string): Promise<Timeline | undefined> {
  const order = await traceOrder(operatorEnvironment(shop, 'orders'), orderId);
  if (order === undefined) return undefined;
  const [stock, emails] = await Promise.all([
    traceReservation(operatorEnvironment(shop, 'catalogue'), order.reservationId),
    traceEmails(operatorEnvironment(shop, 'notifications'), orderId),
  ]);
  const steps = [...named('catalogue', stock), ...named('orders', order.steps), ...named('notifications', emails)];
  return { ...order, steps: sortSteps(steps) };
}

function named(service: ServiceName, steps: readonly HistoryStep[]): TimelineStep[] {
  return steps.map((step) => ({ ...step, service }));
}
