// One e-mail to be sent, and what it tells of.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads, NotificationSent, ShopEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';

export type Kind = NotificationSent['kind'];

/** The event that causes each kind of e-mail. */
interface Causes {
  'order-received': 'order.created.v1';
  'order-shipped': 'order.shipped.v1';
  'order-cancelled': 'order.cancelled.v1';
}

/** A kind with what its event said. */
export type Occasion = { [K in Kind]: { readonly kind: K; readonly details: EventPayloads[Causes[K]] } }[Kind];

/** Adds an e-mail for each event; an order that has one of this kind already gets no second one. */
export async function addNotifications<K extends Kind>(
  tx: Transaction,
  kind: K,
  events: readonly ShopEvent<Causes[K]>[],
): Promise<void> {
  await sql(
    tx,
    `INSERT INTO notifications (kind, id, order_id, account_id, details, request_id, traceparent)
     SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::json[], $6::text[], $7::text[])
     ON CONFLICT (order_id, kind) DO NOTHING`,
    [
      kind,
      events.map(() => newId()),
      events.map(({ data }) => data.orderId),
      events.map(({ data }) => data.accountId),
      events.map(({ data }) => JSON.stringify(data)),
      events.map(({ requestId }) => requestId),
      events.map(({ traceparent }) => traceparent ?? null),
    ],
  );
}
