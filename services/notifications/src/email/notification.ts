// Adds and removes e-mails in the queue, each with the event that caused it.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads, ShopEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { emailRateLimitKey, type RateLimit } from './rate-limit.ts';
import { mailAddress } from './recipient.ts';
import type { TokenKind, TokenNotice, TokenOccasion } from './token-email.ts';
import type { WebhookOccasion } from './webhook-notice.ts';

export type OrderKind = keyof Causes;
export type AccountKind = 'email-changed' | 'password-changed' | 'erasure-requested' | 'erasure-reminder';
export type Kind = OrderKind | AccountKind | TokenKind | WebhookOccasion['kind'];

/** The kinds of e-mails about a return. An order can have several returns. */
export const returnKinds = [
  'order-return-requested',
  'order-return-approved',
  'order-return-refused',
  'order-return-received',
] as const;
export type ReturnKind = (typeof returnKinds)[number];

export const orderKinds: readonly OrderKind[] = [
  'order-received',
  'order-paid',
  'order-shipped',
  'order-cancelled',
  'order-lines-cancelled',
  'order-refund-due',
  'order-refunded',
  ...returnKinds,
];
export const kinds: readonly Kind[] = [
  ...orderKinds,
  'email-changed',
  'password-changed',
  'erasure-requested',
  'erasure-reminder',
  'email-verification',
  'email-change-undo',
  'password-reset',
  'webhook-failing',
];

/** The event that causes each kind of e-mail about an order. */
export interface Causes {
  'order-received': 'order.created.v1';
  'order-paid': 'order.paid.v1';
  'order-shipped': 'order.shipped.v1';
  'order-cancelled': 'order.cancelled.v1';
  'order-lines-cancelled': 'order.lines-cancelled.v1';
  'order-refund-due': 'refund.due.v1';
  'order-refunded': 'refund.done.v1';
  'order-return-requested': 'return.requested.v1';
  'order-return-approved': 'return.approved.v1';
  'order-return-refused': 'return.refused.v1';
  'order-return-received': 'return.received.v1';
}

/** The kinds of e-mails that an order can get several times, except those about returns. */
const repeatedKinds = ['order-lines-cancelled', 'order-refund-due', 'order-refunded'] as const;
type RepeatedKind = (typeof repeatedKinds)[number];

/** The version of the order after the change that the e-mail is about. It distinguishes e-mails of one kind. */
interface Versioned {
  readonly orderVersion: number;
}

/** The content of a notice to an account. It contains no text that the customer wrote. */
export interface AccountNotice {
  readonly accountId: string;
  /** The event that caused it. */
  readonly eventId: string;
  readonly changedAt: string;
  /** The time of the erasure, in a notice about an erasure. */
  readonly eraseAt?: string;
  /** The number of the previous address that gets the notice; absent for the address of the account. */
  readonly former?: number;
}

export type OrderOccasion = {
  [K in OrderKind]: {
    readonly kind: K;
    readonly details: EventPayloads[Causes[K]] & (K extends RepeatedKind ? Versioned : unknown);
  };
}[OrderKind];

/** A kind of e-mail with the data of its event. */
export type Occasion =
  | OrderOccasion
  | { readonly kind: AccountKind; readonly details: AccountNotice }
  | TokenOccasion
  | WebhookOccasion;

export function isWithToken(occasion: Occasion): occasion is TokenOccasion {
  return 'sealedToken' in occasion.details;
}

export function isAboutOrder(occasion: Occasion): occasion is OrderOccasion {
  return 'orderId' in occasion.details;
}

/**
 * Adds an e-mail for each event. An order gets at most one e-mail of each kind. The stored kind of an e-mail that can
 * be repeated contains the version of the order, or the id of the return.
 */
export async function addNotifications<K extends OrderKind>(
  tx: Transaction,
  kind: K,
  events: readonly ShopEvent<Causes[K]>[],
): Promise<void> {
  const details = events.map(({ data, sequence }) =>
    repeatedKinds.some((each) => each === kind) ? { orderVersion: sequence, ...data } : data,
  );
  await sql(
    tx,
    `INSERT INTO notifications (kind, id, order_id, account_id, details, request_id, traceparent)
     SELECT * FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::json[], $6::text[], $7::text[])
       AS added (kind, id, order_id, account_id, details, request_id, traceparent)
     WHERE NOT EXISTS (SELECT FROM erased_accounts e WHERE e.account_id = added.account_id)
     ON CONFLICT (order_id, kind) DO NOTHING`,
    [
      details.map((data) => [kind, repetitionOf(data) ?? []].flat().join(' ')),
      events.map(() => newId()),
      events.map(({ data }) => data.orderId),
      events.map(({ data }) => data.accountId),
      details.map((data) => JSON.stringify(data)),
      events.map(({ requestId }) => requestId),
      events.map(({ traceparent }) => traceparent ?? null),
    ],
  );
}

/** Returns what distinguishes an e-mail from others of its kind about the same order; undefined when nothing does. */
export function repetitionOf(details: object): string | undefined {
  if ('orderVersion' in details) return String(details.orderVersion);
  return 'returnId' in details ? String(details.returnId) : undefined;
}

/**
 * Adds the notices about a pending erasure: to the address of the account, unless it may belong to another person, and
 * to the previous verified addresses. If a thief has changed the address, the owner reads one of these.
 */
export async function addErasureNotices(tx: Transaction, event: ShopEvent<'account.updated.v1'>): Promise<void> {
  const { email, emailVerified = true, erasureReminder = false, formerEmails = [] } = event.data;
  const kind = erasureReminder ? 'erasure-reminder' : 'erasure-requested';
  if (emailVerified) await addNotice(tx, kind, event, email);
  for (const [index, former] of formerEmails.entries()) await addNotice(tx, kind, event, former, index + 1);
}

/**
 * Adds a notice to an account, unless a notice of the same kind already waits for the rate limit of this address.
 * Otherwise another account could delay the notices of the owner for days by repeatedly taking and leaving the address.
 */
export async function addNotice(
  tx: Transaction,
  kind: AccountKind,
  { id, data, requestId, traceparent, time }: ShopEvent<'account.updated.v1'>,
  recipient: string,
  former?: number,
): Promise<void> {
  const { accountId, eraseAt } = data;
  const erasure = eraseAt === undefined ? {} : { eraseAt };
  const details: AccountNotice = {
    accountId,
    eventId: id,
    changedAt: time,
    ...erasure,
    ...(former !== undefined && { former }),
  };
  await sql(
    tx,
    `INSERT INTO notifications (id, kind, account_id, recipient, details, request_id, traceparent)
     SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (
       SELECT FROM notifications
       WHERE kind = $2 AND address_key(recipient) = address_key($4) AND ${isDelayed})
       AND NOT EXISTS (SELECT FROM erased_accounts WHERE account_id = $3)`,
    [newId(), kind, accountId, mailAddress(recipient), JSON.stringify(details), requestId, traceparent ?? null],
  );
}

/**
 * Adds the e-mail with a token, to the address in the event. A delayed e-mail with an older token of its kind becomes
 * obsolete, because that token is no longer valid. In the rate limit of the account's own verification, the time that
 * the obsolete e-mail has reserved is returned, because no other account uses it. In the rate limit of unauthenticated
 * requests it is not returned. Otherwise each of many accounts could move its e-mail to the last reserved time, and all
 * would be sent then.
 */
export async function addTokenEmail(
  tx: Transaction,
  { id, data, requestId, traceparent }: ShopEvent<'email-token.issued.v1'>,
  { secondsEach }: RateLimit,
): Promise<void> {
  const { accountId, kind, email, addressState, clientNetwork, locale, sealedToken, expiresAt } = data;
  const holder = {
    ...(addressState === 'verified' && { name: data.name }),
    ...(locale !== undefined && { locale }),
    ...(addressState !== undefined && { addressState }),
    ...(clientNetwork !== undefined && { clientNetwork }),
  };
  const details: TokenNotice = { accountId, eventId: id, email, ...holder, sealedToken, expiresAt };
  await sql(
    tx,
    `WITH obsolete AS (
       UPDATE notifications SET status = 'obsolete', settled_at = now()
       WHERE account_id = $1 AND kind = $3 AND kind <> 'email-change-undo' AND ${isDelayed}
       RETURNING paced_for AS limit_key
     ), leaving AS (
       SELECT limit_key FROM obsolete WHERE starts_with(limit_key, 'own verification ')
     )
     ${returnTimes}`,
    [accountId, secondsEach, kind],
  );
  await sql(
    tx,
    `INSERT INTO notifications (id, kind, account_id, recipient, details, request_id, traceparent)
     SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (SELECT FROM erased_accounts WHERE account_id = $3)`,
    [newId(), kind, accountId, mailAddress(email), JSON.stringify(details), requestId, traceparent ?? null],
  );
}

/**
 * Cancels the e-mails of an account that is being erased without a verified address. The times that they have reserved
 * are returned. Otherwise a client that repeatedly registers an address and erases the account could delay the e-mails
 * of its owner. Times in the rate limit of unauthenticated requests are not returned, as in `addTokenEmail`.
 */
export async function endTokenEmails(tx: Transaction, accountId: string, { secondsEach }: RateLimit): Promise<void> {
  await sql(
    tx,
    `WITH ended AS (
       UPDATE notifications SET status = 'obsolete', settled_at = now()
       WHERE account_id = $1 AND order_id IS NULL AND (${isDelayed} OR status = 'waiting' AND paced_for IS NULL)
       RETURNING paced_for AS limit_key
     ), leaving AS (
       SELECT limit_key FROM ended WHERE NOT starts_with(limit_key, 'verification ')
     )
     ${returnTimes}`,
    [accountId, secondsEach],
  );
}

/**
 * Replaces delayed e-mails about receipt and payment when the order is cancelled: they become obsolete. The e-mail
 * about the cancellation gets the first reserved time.
 */
export async function replaceObsolete(tx: Transaction, orderId: string): Promise<void> {
  await sql(
    tx,
    `WITH obsolete AS (
       UPDATE notifications SET status = 'obsolete', settled_at = now()
       WHERE order_id = $1 AND kind IN ('order-received', 'order-paid') AND ${isDelayed}
       RETURNING paced_for, next_attempt_at
     ), reserved AS (
       SELECT * FROM obsolete WHERE paced_for IS NOT NULL ORDER BY next_attempt_at LIMIT 1
     )
     UPDATE notifications n SET paced_for = reserved.paced_for, next_attempt_at = reserved.next_attempt_at
     FROM reserved
     WHERE n.order_id = $1 AND n.kind = 'order-cancelled' AND n.status = 'waiting'`,
    [orderId],
  );
}

/**
 * Returns the times that the waiting e-mails of an account have reserved in the rate limits of its previous address. So
 * the next owner of the address does not wait for them. The e-mails then use the rate limits of the new address.
 */
export async function releaseSlots(tx: Transaction, accountId: string, { secondsEach }: RateLimit): Promise<void> {
  await sql(
    tx,
    `WITH leaving AS (
       SELECT n.id, n.paced_for AS limit_key FROM notifications n JOIN recipients r USING (account_id)
       WHERE n.account_id = $1 AND ${isDelayed} AND n.paced_for <> ${emailRateLimitKey}
       FOR UPDATE OF n
     ), left_share AS (
       UPDATE notifications n SET paced_for = NULL FROM leaving WHERE n.id = leaving.id
     )
     ${returnTimes}`,
    [accountId, secondsEach],
  );
}

/** Returns one reserved time for each row of `leaving`. It locks the rate limits in the same order as a claim does. */
const returnTimes = `
  UPDATE recipient_paces SET reserved_until = reserved_until - total * $2::float8 * interval '1 second'
  FROM (
    SELECT key, total
    FROM recipient_paces
      JOIN (SELECT limit_key, count(*) AS total FROM leaving GROUP BY limit_key) AS leaving ON key = limit_key
    ORDER BY key
    FOR UPDATE OF recipient_paces
  ) AS limits
  WHERE recipient_paces.key = limits.key`;

/**
 * True for an e-mail that waits for the rate limit of its recipient or for the verification of its address. No sender
 * has claimed it, because a claim lasts for less than a minute.
 */
const isDelayed = `status = 'waiting' AND attempts = 0 AND next_attempt_at > now() + interval '1 minute'`;
