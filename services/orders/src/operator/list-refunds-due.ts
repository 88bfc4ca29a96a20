// The refunds that the shop owes, for operators.
import { assertCurrency } from '@shop/shared/database';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readCommandConfig } from '../config.ts';
import { toMajorUnits } from '../order/order-payment.ts';
import type { OrderStatus } from '../order/order-status.ts';
import type { OwedCause } from '../order/payment-ledger.ts';

export interface RefundDue {
  readonly orderId: string;
  readonly accountId: string;
  /** State of the order. */
  readonly status: OrderStatus;
  readonly amount: number;
  readonly currency: string;
  readonly dueSince: string;
  /** The reasons why the shop owes money, in alphabetical order. */
  readonly causes: readonly OwedCause[];
  /** The payments that were received for the order, oldest first. */
  readonly payments: readonly { readonly reference: string; readonly amount: number }[];
}

interface Row extends Omit<RefundDue, 'amount' | 'dueSince' | 'payments'> {
  readonly amountMinor: string;
  readonly dueSince: Date;
  readonly payments: readonly { readonly reference: string; readonly amountMinor: number }[];
}

const query = `
  SELECT order_id AS "orderId", payment.account_id AS "accountId", orders.status, orders.currency,
    refund_due_minor::text AS "amountMinor", refund_due_since AS "dueSince",
    (SELECT json_agg(DISTINCT cause ORDER BY cause) FROM payment_ledger AS entry
     WHERE entry.order_id = payment.order_id AND entry.account_id = payment.account_id
       AND kind = 'refund-due') AS causes,
    (SELECT json_agg(json_build_object('reference', reference, 'amountMinor', amount_minor) ORDER BY entry.id)
     FROM payment_ledger AS entry
     WHERE entry.order_id = payment.order_id AND entry.account_id = payment.account_id
       AND kind = 'received') AS payments
  FROM order_payments AS payment JOIN orders ON orders.id = order_id AND orders.account_id = payment.account_id
  WHERE refund_due_minor > 0 ORDER BY refund_due_since, order_id LIMIT $1`;

/**
 * Returns the orders with due refunds, the longest due first.
 * @param environment the variables of orders, of which DATABASE_URL and SHOP_CURRENCY are read
 */
export async function listRefundsDue(environment: Environment, limit: number): Promise<RefundDue[]> {
  const { databaseUrl: url, currency } = readCommandConfig(environment);
  return withDatabase({ url, name: 'list refunds' }, async ({ pool }) => {
    await assertCurrency(pool, currency);
    const { rows } = await pool.query<Row>(query, [limit]);
    return rows.map(({ amountMinor, dueSince, payments, ...row }) => ({
      ...row,
      amount: toMajorUnits(row, Number(amountMinor)),
      dueSince: dueSince.toISOString(),
      payments: payments.map((payment) => ({
        reference: payment.reference,
        amount: toMajorUnits(row, payment.amountMinor),
      })),
    }));
  });
}
