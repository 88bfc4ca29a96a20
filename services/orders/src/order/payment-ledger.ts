// The ledger of the money of orders: the received payments, the refunds that are due, and the refunds that were paid.
import { sql, type Transaction } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import type { Cause } from './change-status.ts';
import type { LockedOrder } from './order.ts';

/** The reasons for a refund. */
export type OwedCause = 'amount-differs' | 'paid-before' | 'cancelled' | 'lines-cancelled' | 'returned';

/** A movement that the payment provider reports under a reference. */
export type ReportedKind = 'received' | 'refunded';

export interface NewEntry {
  readonly kind: ReportedKind | 'refund-due';
  readonly reference: string | null;
  readonly amountMinor: number;
  readonly cause: OwedCause | 'order-paid' | 'refund';
  /** The amount that was due, for a payment of another amount. */
  readonly dueMinor?: number;
}

export interface LedgerEntry {
  readonly id: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly cause: NewEntry['cause'];
  readonly dueMinor: number | null;
  readonly at: Date;
}

const columns = 'id, order_id AS "orderId", amount_minor AS "amountMinor", cause, due_minor AS "dueMinor", at';

/**
 * Returns the entry with a reference, of any order. Until the transaction ends, no other transaction finds or adds an
 * entry with the reference. Call it before the order is locked.
 */
export async function findEntry(
  tx: Transaction,
  kind: ReportedKind,
  reference: string,
): Promise<LedgerEntry | undefined> {
  // The unique key contains the account, so it cannot reject a reference of a payment of another account.
  await sql(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`payment ledger ${kind} ${reference}`]);
  const [entry] = await sql<LedgerEntry>(
    tx,
    `SELECT ${columns} FROM payment_ledger WHERE reference = $1 AND kind = $2`,
    [reference, kind],
  );
  return entry;
}

export async function addEntry(
  tx: Transaction,
  { id: requestId, caller }: Cause,
  order: LockedOrder,
  { kind, reference, amountMinor, cause, dueMinor }: NewEntry,
): Promise<LedgerEntry> {
  const [entry] = await sql<LedgerEntry>(
    tx,
    `INSERT INTO payment_ledger
       (id, order_id, account_id, kind, reference, amount_minor, cause, due_minor, actor_id, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${columns}`,
    [
      newId(),
      order.id,
      order.accountId,
      kind,
      reference,
      amountMinor,
      cause,
      dueMinor ?? null,
      caller?.accountId ?? null,
      requestId,
    ],
  );
  if (entry === undefined) throw new Error('an inserted entry left no row');
  return entry;
}
