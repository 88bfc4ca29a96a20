// Compares the uses of discounts, the returns, the invoices and what the shop owes with the orders, from the tables.
import { ofOrder } from '../../../services/orders/src/order/order-columns.ts';
import type { OrderLine } from '../../../services/orders/src/order/order-lines.ts';
import { totalsAfterReturns, totalsOfOrder } from '../../../services/orders/src/order/order-totals.ts';
import type { Pricing } from '../../../services/orders/src/pricing/pricing.ts';
import { allAccounts } from '../../../services/orders/src/settings/discount-uses.ts';
import { isUnchecked, type Observed } from './checked.ts';
import type { Journal, ReturnedUnits, ReturnOutcome } from './journal.ts';

type Tables = Pick<Observed, 'admin'>;

export async function priceViolations(tables: Tables, journal: Journal): Promise<string[]> {
  const orders = await readOrders(tables);
  const found = [...(await useViolations(tables)), ...(await numberViolations(tables))];
  for (const order of orders)
    for (const fault of [...shareFaults(order), ...documentFaults(order), ...returnFaults(order)])
      found.push(`order ${order.id} ${fault}`);
  return [...found, ...outcomeViolations(orders, journal)];
}

/** The uses of a discount are those of the orders that have it and are not cancelled, of all orders of the shop. */
async function useViolations({ admin }: Tables): Promise<string[]> {
  const { rows } = await admin.query<{ name: string; account: string; used: number; orders: number; most: number }>(`
    WITH bounds AS (
      SELECT id, body ->> 'name' AS name, (body ->> 'uses')::int AS uses, (body ->> 'usesPerAccount')::int AS each
      FROM pricing_settings WHERE kind = 'discount' AND coalesce(body ->> 'uses', body ->> 'usesPerAccount') IS NOT NULL
    ), living AS (
      SELECT bounds.id, account_id, each FROM orders, json_array_elements(pricing -> 'discounts') AS discount
      JOIN bounds ON bounds.id = (discount ->> 'id')::uuid WHERE status <> 'cancelled'
    ), wanted AS (
      SELECT id AS discount_id, '${allAccounts}'::uuid AS account_id, count(*)::int AS orders FROM living GROUP BY id
      UNION ALL
      SELECT id, account_id, count(*)::int FROM living WHERE each IS NOT NULL GROUP BY id, account_id
    )
    SELECT name, account_id AS account, coalesce(used, 0)::int AS used, coalesce(orders, 0) AS orders, most
    FROM discount_uses FULL JOIN wanted USING (discount_id, account_id) JOIN bounds ON bounds.id = discount_id,
      LATERAL (SELECT CASE account_id WHEN '${allAccounts}' THEN uses ELSE each END AS most) AS bound
    WHERE coalesce(used, 0) <> coalesce(orders, 0) OR orders > most`);
  return rows.map(
    ({ name, account, used, orders, most }) =>
      `discount ${name} of account ${account} has ${used} uses of at most ${most}, and ${orders} orders use it`,
  );
}

/** The numbers of each series are 1, 2, 3 and so on. */
async function numberViolations({ admin }: Tables): Promise<string[]> {
  const { rows } = await admin.query<Record<string, unknown>>(`
    SELECT kind, year, last, documents, numbers, first, greatest FROM invoice_numbers FULL JOIN (
      SELECT kind, year, count(*)::int AS documents, count(DISTINCT number)::int AS numbers, min(sequence) AS first,
        max(sequence) AS greatest FROM invoices GROUP BY kind, year) AS issued USING (kind, year)
    WHERE (last, numbers, first, greatest) IS DISTINCT FROM (documents, documents, 1, documents)`);
  return rows.map((row) => `a series of invoices has a gap or a number twice: ${JSON.stringify(row)}`);
}

interface StoredReturn {
  readonly id: string;
  readonly status: ReturnOutcome['status'];
  readonly lines: readonly ReturnedUnits[];
  readonly refund: number | null;
  readonly stock: 'pending' | 'done' | 'failed' | null;
  /** The types of its events. */
  readonly events: readonly string[];
}

interface PricedOrder {
  readonly id: string;
  readonly status: string;
  readonly pricing: Pricing | null;
  readonly total: number;
  readonly lines: readonly OrderLine[];
  readonly returns: readonly StoredReturn[];
  /** A credit note has the id of its return. `total` is in minor units. */
  readonly documents: readonly { readonly returnId: string | null; readonly total: number }[];
  /** The payment of the order, when it is paid. */
  readonly paid: number | null;
  readonly owedForReturns: number;
  /** Without payments that arrived after the cancellation. */
  readonly owedForCancellations: number;
}

const owedFor = (causes: string): string => `
  (SELECT coalesce(sum(amount_minor), 0)::int FROM payment_ledger AS owed
   WHERE ${ofOrder('owed')} AND owed.kind = 'refund-due' AND owed.cause IN (${causes}))`;

async function readOrders({ admin }: Tables): Promise<PricedOrder[]> {
  const { rows } = await admin.query<PricedOrder>(`
    SELECT id, status, pricing, total_minor::int AS total,
      (SELECT coalesce(json_agg(json_build_object(
          'productId', product_id, 'name', name, 'quantity', quantity - cancelled_quantity,
          'cancelledQuantity', cancelled_quantity, 'returnedQuantity', returned_quantity,
          'unitPriceMinor', unit_price_minor) ORDER BY position), '[]')
        FROM order_lines AS line WHERE ${ofOrder('line')}) AS lines,
      (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status, 'lines', lines, 'refund', refund_minor,
          'stock', stock_returned,
          'events', (SELECT coalesce(json_agg(type), '[]') FROM outbox WHERE subject = returns.id::text))), '[]')
        FROM returns WHERE ${ofOrder('returns')}) AS returns,
      (SELECT coalesce(json_agg(json_build_object('returnId', return_id,
          'total', round((body ->> 'total')::numeric * 100))), '[]')
        FROM invoices WHERE ${ofOrder('invoices')}) AS documents,
      (SELECT amount_minor::int FROM payment_ledger AS payment
        WHERE ${ofOrder('payment')} AND payment.kind = 'received' AND payment.cause = 'order-paid') AS paid,
      ${owedFor("'returned'")} AS "owedForReturns",
      ${owedFor("'lines-cancelled', 'cancelled'")} - (
        SELECT coalesce(sum(amount_minor), 0)::int FROM payment_ledger AS late
        WHERE ${ofOrder('late')} AND late.kind = 'received' AND late.cause = 'cancelled') AS "owedForCancellations"
    FROM orders WHERE ${isUnchecked('orders.id')}`);
  return rows;
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** What the remaining units cost, and what is owed for the others, follows from the pricing of the order. */
function shareFaults(order: PricedOrder): string[] {
  const { total, lines, returns, paid, status } = order;
  const left = totalsOfOrder(order, lines).totals.totalMinor;
  const share = left - totalsAfterReturns(order, lines, false).totalMinor;
  const amounts: Record<string, readonly [number, number]> = {
    'its total': [total, left],
    'its refunds of returns': [sum(returns.map(({ refund }) => refund ?? 0)), paid === null ? 0 : share],
    'what is owed for its returns': [order.owedForReturns, paid === null ? 0 : share],
    'what is owed for its cancellations': [
      order.owedForCancellations,
      paid === null ? 0 : paid - (status === 'cancelled' ? 0 : left),
    ],
  };
  return Object.entries(amounts)
    .filter(([, [stored, calculated]]) => stored !== calculated)
    .map(([name, [stored, calculated]]) => `is ${status}, and ${name} is ${stored} instead of ${calculated}`);
}

const arrived = ({ lines }: Pick<StoredReturn, 'lines'>): number => sum(lines.map(({ received = 0 }) => received));

/** An order that has shipped has one invoice, and each return of which units arrived has one credit note. */
function documentFaults({ status, total, returns, documents }: PricedOrder): string[] {
  const hasShipped = status === 'shipped' || status === 'delivered';
  const credited = returns.filter((each) => each.status === 'received' && arrived(each) > 0);
  const wanted = [
    ...(hasShipped ? [`invoice of ${total}`] : []),
    ...credited.map(({ id, refund }) => `credit note of ${refund ?? 0} for ${id}`),
  ];
  const issued = documents.map((each) =>
    each.returnId === null ? `invoice of ${each.total}` : `credit note of ${each.total} for ${each.returnId}`,
  );
  const [one, other] = [wanted.sort().join(', '), issued.sort().join(', ')];
  return one === other ? [] : [`is ${status} and has the documents "${other}" instead of "${one}"`];
}

/** No unit is in two returns or comes back twice, and each return has its events and its effect on the stock. */
function returnFaults({ lines, returns }: PricedOrder): string[] {
  const found: string[] = [];
  for (const { productId, quantity, returnedQuantity } of lines) {
    const units = (taken: (line: ReturnedUnits, status: StoredReturn['status']) => number): number =>
      sum(
        returns.flatMap((each) =>
          each.lines.map((line) => (line.productId === productId ? taken(line, each.status) : 0)),
        ),
      );
    const back = units((line, status) => (status === 'received' ? (line.received ?? 0) : 0));
    const open = units((line, status) => (status === 'requested' || status === 'approved' ? line.quantity : 0));
    if (back !== returnedQuantity)
      found.push(`has ${returnedQuantity} returned units of ${productId} instead of ${back}`);
    if (back + open > quantity)
      found.push(`has returns of ${back + open} units of ${productId}, and ${quantity} shipped`);
  }
  for (const { id, status, stock, events, ...units } of returns) {
    const count = (type: string): number => events.filter((each) => each === `return.${type}.v1`).length;
    if (count('requested') !== 1 || count(status) !== 1) found.push(`has a return ${id} with the events ${events}`);
    const isRestocked = units.lines.some(({ received = 0, restock }) => restock === true && received > 0);
    if (stock !== (isRestocked ? 'done' : null))
      found.push(`has a return ${id} whose units for the stock are ${stock}`);
  }
  return found;
}

/** Compares the returns with what their customers and staff were told. */
function outcomeViolations(orders: readonly PricedOrder[], journal: Journal): string[] {
  const told = new Map(journal.orders.flatMap(({ returns = [] }) => returns.map((each) => [each.id, stateOf(each)])));
  const stored = new Map(orders.flatMap(({ returns }) => returns.map((each) => [each.id, stateOf(each)])));
  return [...new Set([...told.keys(), ...stored.keys()])].flatMap((id) =>
    told.get(id) === stored.get(id)
      ? []
      : [`return ${id} was answered as ${told.get(id)}, and is stored as ${stored.get(id)}`],
  );
}

function stateOf({ status, lines }: Pick<ReturnOutcome, 'status' | 'lines'>): string {
  const units = lines.map(({ productId, quantity, received, restock }) => [productId, quantity, received, restock]);
  return JSON.stringify([status, units]);
}
