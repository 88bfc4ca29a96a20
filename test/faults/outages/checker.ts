// Reads all schemas and the e-mails after a round, and lists all violations. It does not rely on replies of the
// services.

import { readStockReport } from '../../../services/catalogue/src/operator/verify-stock.ts';
import { ofOrder } from '../../../services/orders/src/order/order-columns.ts';
import { booksOf } from '../../../services/orders/test/payment-books.ts';
import { isUnchecked, lateMails } from './checked.ts';
import type { Deployment } from './deployment.ts';
import { effectViolations } from './effects.ts';
import { feedViolations } from './feed-checks.ts';
import type { Journal } from './journal.ts';
import { priceViolations } from './price-checks.ts';

/** The data and the e-mails that the checker reads. */
export type Checked = Pick<Deployment, 'admin' | 'mailFolder' | 'catalogueClient'>;

/** All violations, one on each line; empty when there are none. Call it when no work is in progress. */
export async function violations(
  system: Checked,
  journal: Journal,
  initialStock: ReadonlyMap<string, number>,
): Promise<string[]> {
  return [
    ...(await accountViolations(system, journal)),
    ...(await orderViolations(system, journal)),
    ...(await stockViolations(system, initialStock)),
    ...(await bookViolations(system)),
    ...(await moneyViolations(system, journal)),
    ...(await priceViolations(system, journal)),
    ...(await effectViolations(system)),
    ...(await lateMails(system)),
    ...(await feedViolations(system.admin)),
  ];
}

async function accountViolations({ admin }: Checked, { accounts }: Journal): Promise<string[]> {
  const { rows } = await admin.query<{ id: string; email: string; told: boolean }>(`
    SELECT id, email,
      EXISTS (SELECT FROM notifications.recipients r WHERE r.account_id = a.id AND r.email = a.email) AS told
    FROM accounts.accounts a WHERE ${isUnchecked('a.id')}`);
  const stored = new Map(rows.map((row) => [row.email, row]));
  const found: string[] = [];
  for (const { email, accountId } of accounts) {
    if (stored.get(email)?.id !== accountId)
      found.push(`account ${email} was given out as ${accountId} and is another one`);
  }
  const emails = new Set(accounts.map(({ email }) => email));
  for (const { email, told } of rows) {
    if (!emails.has(email)) found.push(`account ${email} exists and nobody was told of it`);
    if (!told) found.push(`account ${email} is not known to notifications`);
  }
  return found;
}

interface StoredOrder {
  readonly id: string;
  readonly status: string;
  readonly lines: Record<string, number>;
  readonly cancelledUnits: number;
  /** Whether its account is erased, which cancels pending orders. */
  readonly erased: boolean;
}

async function orderViolations({ admin }: Checked, journal: Journal): Promise<string[]> {
  const { rows } = await admin.query<StoredOrder>(`
    SELECT id, status, lines, "cancelledUnits",
      EXISTS (SELECT FROM erased_accounts e WHERE e.account_id = orders.account_id) AS erased
    FROM orders, LATERAL (
      SELECT coalesce(json_object_agg(product_id, quantity), '{}') AS lines,
        coalesce(sum(cancelled_quantity), 0)::int AS "cancelledUnits"
      FROM order_lines AS line WHERE ${ofOrder('line')}) AS summed WHERE ${isUnchecked('orders.id')}`);
  const stored = new Map(rows.map((row) => [row.id, row]));
  const vanished = journal.orders.filter((outcome) => outcome.vanished === true);
  const kept = await keptAnswers(
    admin,
    vanished.map(({ key }) => key),
  );
  const accepted = journal.orders.flatMap((outcome) => {
    const orderId = outcome.vanished === true ? kept.get(outcome.key) : outcome.orderId;
    return orderId === undefined ? [] : [{ ...outcome, orderId }];
  });
  const found: string[] = [];
  for (const { key, orderId, lines, cancelled, cancelledAgain, shortened, shipped } of accepted) {
    const order = stored.get(orderId);
    if (order === undefined) {
      found.push(`order ${orderId} was accepted (key ${key}) and does not exist`);
      continue;
    }
    const wanted = Object.fromEntries(lines.map(({ productId, quantity }) => [productId, quantity]));
    if (!sameEntries(wanted, order.lines)) found.push(`order ${orderId} has other lines than were ordered`);
    // The cancellation of the only unit cancels the order, and changes no line.
    const wasOnlyUnit = shortened === 200 && lines.length === 1 && lines[0]?.quantity === 1;
    if ((cancelled === 200 || wasOnlyUnit) && order.status !== 'cancelled')
      found.push(`order ${orderId} was cancelled and is ${order.status}`);
    if (['shipped', 'delivered'].includes(order.status) !== (shipped === 200))
      found.push(`order ${orderId} is ${order.status}, and its shipment was answered ${shipped}`);
    const units = shortened === 200 && !wasOnlyUnit ? 1 : 0;
    if (order.cancelledUnits !== units)
      found.push(`order ${orderId} has ${order.cancelledUnits} cancelled units instead of ${units}`);
    if (cancelledAgain !== undefined && cancelledAgain !== 200)
      found.push(`order ${orderId} was cancelled, and then the cancellation was answered ${cancelledAgain}`);
    const mayBeCancelled = cancelled === undefined ? wasOnlyUnit || order.erased : cancelled === 200;
    if (order.status === 'cancelled' && !mayBeCancelled)
      found.push(`order ${orderId} is cancelled, and its customer ${cancelled ? `got ${cancelled}` : 'did not ask'}`);
  }
  const ids = new Set(accepted.map(({ orderId }) => orderId));
  if (ids.size !== accepted.length) found.push('two requests with different keys were told of the same order');
  for (const id of stored.keys()) if (!ids.has(id)) found.push(`order ${id} exists and nobody was told of it`);
  return found;
}

/** Key → order, for buyers without a clear reply. */
async function keptAnswers(admin: Deployment['admin'], keys: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await admin.query<{ key: string; id: string }>(
    `SELECT key, body::json->>'id' AS id FROM orders.idempotency_keys
       WHERE operation_id = 'createOrder' AND status = 201 AND key = ANY ($1)`,
    [keys],
  );
  return new Map(rows.map(({ key, id }) => [key, id]));
}

function sameEntries(a: Record<string, number>, b: Record<string, number>): boolean {
  return Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value);
}

async function stockViolations({ admin }: Checked, initialStock: ReadonlyMap<string, number>): Promise<string[]> {
  const { rows } = await admin.query<{
    id: string;
    stock: number;
    reserved: number;
    oversold: number;
    live: number;
    shipped: number;
    restocked: number;
  }>(
    `
    SELECT p.id, p.stock, p.reserved, p.oversold,
      coalesce(sum(l.units) FILTER (WHERE l.status IN ('pending', 'processing')), 0)::int AS live,
      coalesce(sum(l.units) FILTER (WHERE l.status IN ('shipped', 'delivered')), 0)::int AS shipped,
      coalesce(max(back.units), 0)::int AS restocked
    FROM catalogue.products p
    LEFT JOIN (
      SELECT status, product_id, quantity - cancelled_quantity AS units
      FROM orders JOIN order_lines AS line ON ${ofOrder('line')} WHERE ${isUnchecked('orders.id')}
    ) AS l ON l.product_id = p.id
    LEFT JOIN (
      SELECT line ->> 'productId' AS product_id, sum((line ->> 'received')::int) AS units
      FROM orders JOIN returns ON ${ofOrder('returns')}, json_array_elements(returns.lines) AS line
      WHERE returns.status = 'received' AND line ->> 'restock' = 'true' AND ${isUnchecked('orders.id')} GROUP BY 1
    ) AS back ON back.product_id = p.id::text
    WHERE p.id = ANY ($1::uuid[])
    GROUP BY p.id`,
    [[...initialStock.keys()]],
  );
  const found: string[] = [];
  for (const { id, stock, reserved, oversold, live, shipped, restocked } of rows) {
    const initial = initialStock.get(id) ?? 0;
    if (stock + shipped - restocked !== initial)
      found.push(`product ${id}: ${initial} at first, ${stock} on hand, ${shipped} shipped, ${restocked} came back`);
    if (reserved !== live) found.push(`product ${id}: ${reserved} reserved, ${live} in live orders`);
    if (oversold !== 0 || reserved > stock || reserved < 0) found.push(`product ${id}: sold beyond its stock`);
  }
  return found;
}

/** Checks that each payment and refund with a reply is in the ledger once, and that the amounts add up. */
async function moneyViolations({ admin }: Checked, { orders }: Journal): Promise<string[]> {
  const { rows } = await admin.query<{ movement: string; entries: number }>(`
    SELECT movement.kind || ' ' || movement.reference AS movement, count(*)::int AS entries
    FROM orders JOIN payment_ledger AS movement ON ${ofOrder('movement')}
    WHERE movement.reference IS NOT NULL AND ${isUnchecked('orders.id')} GROUP BY 1`);
  const entries = new Map(rows.map((row) => [row.movement, row.entries]));
  const found: string[] = [];
  for (const { key, orderId, paid, shortened, reported = [] } of orders) {
    const answered = [{ kind: 'received', reference: key, status: paid }, ...reported];
    for (const { kind, reference, status } of answered) {
      const recorded = entries.get(`${kind} ${reference}`) ?? 0;
      // 409: the amount was no longer that of the order, so the money is due as a refund.
      const mayDiffer = reference === key && shortened === 200;
      if (status !== undefined && status !== 200 && !(status === 409 && mayDiffer))
        found.push(`${kind} ${reference} of order ${orderId} was answered ${status}`);
      if ((status === 200 || status === 409) && recorded !== 1)
        found.push(`${kind} ${reference} of order ${orderId} is in the ledger ${recorded} times`);
    }
  }
  const ids = orders.flatMap(({ orderId }) => orderId ?? []);
  const { received, kept, owed, paidBack, faults } = await booksOf(admin, ids);
  if (received !== kept + owed + paidBack)
    found.push(`${received} was received, ${kept} kept, ${owed} owed and ${paidBack} paid back`);
  return [...found, ...faults.map((fault) => `the money of an order does not add up: ${fault}`)];
}

/** Faults in the stock ledger, as `npm run shop -- stock verify` finds them. */
async function bookViolations({ catalogueClient }: Checked): Promise<string[]> {
  const { faults } = await catalogueClient((client) => readStockReport(client));
  return faults.map(({ productId, detail, ...at }) => `the stock of ${productId ?? JSON.stringify(at)}: ${detail}`);
}
