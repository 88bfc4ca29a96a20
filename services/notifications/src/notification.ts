// One e-mail to be sent, and what it tells of.
import { sql } from '@shop/shared/database';
import type { EventPayloads, NotificationSent, ShopEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import type { Transaction } from 'sequelize';

export type Kind = NotificationSent['kind'];

/** The event that causes each kind of e-mail. */
interface Causes {
  'order-received': 'order.created.v1';
  'order-shipped': 'order.shipped.v1';
  'order-cancelled': 'order.cancelled.v1';
}

/** A kind with what its event said. */
export type Occasion = { [K in Kind]: { readonly kind: K; readonly details: EventPayloads[Causes[K]] } }[Kind];

/** Adds the e-mail; an order that has one of this kind already gets no second one. */
export async function addNotification<K extends Kind>(
  tx: Transaction,
  kind: K,
  { data, requestId, traceparent }: ShopEvent<Causes[K]>,
): Promise<void> {
  await sql(
    tx,
    `INSERT INTO notifications (id, order_id, account_id, kind, details, request_id, traceparent)
     VALUES ($1, $2, $3, $4, $5::json, $6, $7)
     ON CONFLICT (order_id, kind) DO NOTHING`,
    [newId(), data.orderId, data.accountId, kind, JSON.stringify(data), requestId, traceparent ?? null],
  );
}
