// SQL expressions of the members of an order that are not a plain column, for statements that read `orders`.
import type { Prices } from './order-prices.ts';

/** Returns the condition that a row of another table, under the alias, belongs to the order `orders`. */
export function ofOrder(alias: string): string {
  return `${alias}.order_id = orders.id AND ${alias}.account_id = orders.account_id`;
}

/** Returns an amount in major units, from a column in minor units. */
function majorSql(column: string, decimals: number): string {
  return decimals === 0 ? column : `round(${column} / 1e${decimals}, ${decimals})`;
}

export function linesSql(decimals: number): string {
  const major = (column: string) => majorSql(column, decimals);
  // Most orders have no prices, and most lines no cancelled units. Their objects are built without a check of each
  // member.
  return `coalesce(prices -> 'itemsSummary', (SELECT json_agg(CASE cancelled_quantity + returned_quantity
      WHEN 0 THEN json_build_object(
        'productId', product_id, 'name', name, 'quantity', quantity,
        'unitPrice', ${major('unit_price_minor')}, 'lineTotal', ${major('line_total_minor')})
      ELSE json_strip_nulls(json_build_object(
        'productId', product_id, 'name', name, 'quantity', quantity - cancelled_quantity,
        'cancelledQuantity', nullif(cancelled_quantity, 0), 'returnedQuantity', nullif(returned_quantity, 0),
        'unitPrice', ${major('unit_price_minor')},
        'lineTotal', ${major('(unit_price_minor * (quantity - cancelled_quantity))')}))
      END ORDER BY position)
    FROM order_lines AS line WHERE ${ofOrder('line')}))`;
}

/** Returns a member of the order that its pricing adds; NULL for an order without shipping, discounts and taxes. */
export function priceSql(member: keyof Prices): string {
  return `(prices -> '${member}')`;
}

function timeSql(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

const customerOf = 'FROM customers WHERE customers.account_id = orders.account_id';

export const customerSql = `(SELECT json_strip_nulls(json_build_object(
    'name', customers.name, 'email', customers.email, 'phone_number', customers.phone_number)) ${customerOf})`;

/** The address for staff. Without a recipient, the parcel is addressed to the account owner. */
export const staffAddressSql = `(CASE WHEN shipping_address IS NOT NULL THEN coalesce(
    (SELECT jsonb_build_object('recipient', customers.name) || shipping_address::jsonb ${customerOf}),
    shipping_address::jsonb) END)`;

/** For staff, the response also depends on the version of the customer. */
export const staffVersionSql = `version || coalesce((SELECT '.' || customers.sequence ${customerOf}), '')`;

/** The suffix ` due` of the state, when the order has to be paid before it can be processed. */
export const isDueSql = `coalesce(CASE WHEN orders.status = 'pending' THEN (SELECT ' due' FROM order_payments AS payment
    WHERE ${ofOrder('payment')} AND payment.status = 'due') END, '')`;

export function paymentSql(decimals: number): string {
  const positive = (column: string) => `CASE WHEN ${column} > 0 THEN ${majorSql(column, decimals)} END`;
  return `(SELECT json_strip_nulls(json_build_object(
      'status', payment.status,
      'dueAt', ${timeSql('payment.due_at')},
      'paidAt', ${timeSql('payment.paid_at')},
      'refundDue', ${positive('payment.refund_due_minor')},
      'refunded', ${positive('payment.refunded_minor')}
    )) FROM order_payments AS payment WHERE ${ofOrder('payment')})`;
}

export const cancellationSql = `(CASE WHEN status = 'cancelled' THEN json_strip_nulls(json_build_object(
    'reason', cancellation_reason,
    'cancelledAt', ${timeSql('cancelled_at')},
    'stockReleased', json_build_object('state', stock_released, 'at', ${timeSql('stock_released_at')}),
    'customerNotified', json_build_object('state', customer_notified, 'at', ${timeSql('customer_notified_at')},
      'waitingFor', ${waitingForSql('customer_notified')})
  )) END)`;

/**
 * Every entry of the history, oldest first. It omits the ids of staff and of requests, because these are not personal
 * data of the customer.
 */
export const historySql = `(SELECT json_agg(json_strip_nulls(json_build_object(
    'status', history.status, 'at', ${timeSql('history.at')}, 'by', history.actor,
    'cancelledLines', history.cancelled_lines,
    'reason', CASE history.status WHEN 'cancelled' THEN orders.cancellation_reason ELSE history.reason END,
    'stockReleased', ${effectSql('history.stock_released')},
    'customerNotified', ${effectSql('history.customer_notified', waitingForSql('history.customer_notified'))}
  )) ORDER BY history.version)
  FROM order_history AS history WHERE ${ofOrder('history')})`;

/** Returns the state and the time of an effect, and what it waits for; NULL for an entry without effects. */
function effectSql(column: string, waitingFor = 'NULL'): string {
  return `CASE WHEN ${column} IS NOT NULL THEN
    json_build_object('state', ${column}, 'at', ${timeSql(`${column}_at`)}, 'waitingFor', ${waitingFor}) END`;
}

/**
 * Returns the SQL expression for the reason why an e-mail is pending. E-mails about an order are sent only to verified
 * addresses.
 */
export function waitingForSql(column: string): string {
  return `CASE WHEN ${column} = 'pending' AND EXISTS (SELECT ${customerOf} AND NOT customers.email_verified)
      THEN 'email-verification' END`;
}

/** The effect of a return on the stock; NULL when it has none. */
export const stockReturnedSql = `(${effectSql('stock_returned')})`;

/** Returns the returns of the order, oldest first; NULL when there is none. */
export function returnsSql(decimals: number): string {
  return `(SELECT json_agg(json_strip_nulls(json_build_object(
      'id', returns.id, 'orderId', returns.order_id, 'accountId', returns.account_id, 'status', returns.status,
      'lines', returns.lines, 'comment', returns.comment, 'refusalReason', returns.refusal_reason,
      'refund', ${majorSql('returns.refund_minor', decimals)}, 'currency', orders.currency,
      'stockReturned', ${stockReturnedSql},
      'createdAt', ${timeSql('returns.created_at')}, 'updatedAt', ${timeSql('returns.updated_at')}
    )) ORDER BY returns.created_at, returns.id)
    FROM returns WHERE ${ofOrder('returns')})`;
}

/** The invoice of the order, and then its credit notes; NULL when there is none. */
export const invoicesSql = `(SELECT json_agg(jsonb_build_object(
      'kind', invoice.kind, 'number', invoice.number, 'issuedAt', ${timeSql('invoice.issued_at')}
    ) || invoice.body::jsonb ORDER BY invoice.kind DESC, invoice.issued_at, invoice.sequence)
    FROM invoices AS invoice WHERE ${ofOrder('invoice')})`;

/** Returns every movement of money, oldest first; NULL when there was none. */
export function movementsSql(decimals: number): string {
  return `(SELECT json_agg(json_strip_nulls(json_build_object(
      'kind', ledger.kind, 'reference', ledger.reference, 'amount', ${majorSql('ledger.amount_minor', decimals)},
      'cause', ledger.cause, 'due', ${majorSql('ledger.due_minor', decimals)}, 'at', ${timeSql('ledger.at')}
    )) ORDER BY ledger.at, ledger.id)
    FROM payment_ledger AS ledger WHERE ${ofOrder('ledger')})`;
}
