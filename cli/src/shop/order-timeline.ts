// The history of one order in orders, catalogue and notifications, by time. The shop may be stopped.
import type { OrderTrace } from '@shop/orders/operator';
import type { HistoryStep } from '@shop/shared/events';
import { joinSteps, type TracedService } from '@shop/shared/trace';
import type { OpenShop } from './open-shop.ts';
import { operators } from './operators.ts';
import { operatorEnvironment } from './processes.ts';

export interface TimelineStep extends HistoryStep {
  readonly service: TracedService;
}

export interface Timeline extends OrderTrace {
  readonly steps: readonly TimelineStep[];
}

/** Returns undefined when the order does not exist. */
export async function readTimeline(shop: OpenShop, orderId: string): Promise<Timeline | undefined> {
  const { traceOrder } = await operators.orders();
  const order = await traceOrder(operatorEnvironment(shop, 'orders'), orderId);
  if (order === undefined) return undefined;
  const [{ traceReservation }, { traceEmails }] = await Promise.all([operators.catalogue(), operators.notifications()]);
  const [catalogue, notifications] = await Promise.all([
    traceReservation(operatorEnvironment(shop, 'catalogue'), order.reservationId),
    traceEmails(operatorEnvironment(shop, 'notifications'), orderId),
  ]);
  return { ...order, steps: joinSteps({ catalogue, orders: order.steps, notifications }) };
}
