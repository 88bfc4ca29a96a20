// One e-mail to be sent, and what it tells of.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads, ShopEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';

export type OrderKind = EventPayloads['notification.sent.v1']['kind'];
export type AccountKind = 'email-changed' | 'password-changed';
export type Kind = OrderKind | AccountKind;

export const orderKinds: readonly OrderKind[] = ['order-received', 'order-shipped', 'order-cancelled'];
export const kinds: readonly Kind[] = [...orderKinds, 'email-changed', 'password-changed'];

/** The event that causes each kind of e-mail about an order. */
interface Causes {
  'order-received': 'order.created.v1';
  'order-shipped': 'order.shipped.v1';
  'order-cancelled': 'order.cancelled.v1';
}

/** What a notice to the holder of an account says; nothing that the holder wrote. */
export interface AccountNotice {
  readonly accountId: string;
  /** The event that it follows from. */
  readonly eventId: string;
  readonly changedAt: string;
}

export type OrderOccasion = {
  [K in OrderKind]: { readonly kind: K; readonly details: EventPayloads[Causes[K]] };
}[OrderKind];

/** A kind with what its event said. */
export type Occasion = OrderOccasion | { readonly kind: AccountKind; readonly details: AccountNotice };

export function isAboutOrder(occasion: Occasion): occasion is OrderOccasion {
  return 'orderId' in occasion.details;
}

/** Adds an e-mail for each event. An order that already has an e-mail of this kind gets no second one. */
export async function addNotifications<K extends OrderKind>(
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

/** Adds a notice to an account's holder, at the address that was the account's before the change. */
export async function addNotice(
  tx: Transaction,
  kind: AccountKind,
  { id, data, requestId, traceparent, time }: ShopEvent<'account.updated.v1'>,
): Promise<void> {
  const { accountId, email, previousEmail = email } = data;
  const details: AccountNotice = { accountId, eventId: id, changedAt: time };
  await sql(
    tx,
    `INSERT INTO notifications (id, kind, account_id, recipient, details, request_id, traceparent)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [newId(), kind, accountId, previousEmail, JSON.stringify(details), requestId, traceparent ?? null],
  );
}

/** An e-mail that waits for its recipient's share is not sent any more when the order is cancelled: that e-mail says more. */
export async function dropObsolete(tx: Transaction, orderId: string): Promise<void> {
  await sql(
    tx,
    `UPDATE notifications SET status = 'obsolete', settled_at = now()
     WHERE order_id = $1 AND kind = 'order-received' AND status = 'waiting'
       AND attempts = 0 AND paced_for IS NOT NULL AND next_attempt_at > now() + interval '1 minute'`,
    [orderId],
  );
}
