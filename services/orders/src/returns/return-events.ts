// The events about returns.
import type { Transaction } from '@shop/shared/database';
import { appendEvent, type EventPayloads } from '@shop/shared/events';
import type { LockedOrder } from '../order/order.ts';

export type ReturnEvent = Extract<keyof EventPayloads, `return.${string}`>;

export interface ChangedReturn {
  readonly id: string;
  readonly order: Pick<LockedOrder, 'id' | 'accountId'>;
  /** The version after the change. */
  readonly version: number;
}

export async function appendReturnEvent<Type extends ReturnEvent>(
  tx: Transaction,
  cause: { readonly id: string; readonly traceparent?: string | undefined },
  { id, order, version }: ChangedReturn,
  type: Type,
  data: Omit<EventPayloads[Type], 'orderId' | 'accountId' | 'returnId'>,
): Promise<void> {
  await appendEvent(tx, {
    type,
    subject: id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: { orderId: order.id, accountId: order.accountId, returnId: id, ...data } as EventPayloads[Type],
  });
}
