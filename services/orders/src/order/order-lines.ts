// The lines of an order, with the units that were not cancelled.
import { sql, type Transaction } from '@shop/shared/database';

export interface OrderLine {
  readonly productId: string;
  readonly name: string;
  /** The units that the order has; 0 when all units of the line were cancelled. */
  readonly quantity: number;
  readonly cancelledQuantity: number;
  /** The units that came back. `quantity` still includes them. */
  readonly returnedQuantity: number;
  readonly unitPriceMinor: number;
}

/** All lines of the order $1 of the account $2. */
export const selectLines = `
  SELECT product_id AS "productId", name, quantity - cancelled_quantity AS quantity,
    cancelled_quantity AS "cancelledQuantity", returned_quantity AS "returnedQuantity",
    unit_price_minor AS "unitPriceMinor"
  FROM order_lines WHERE order_id = $1 AND account_id = $2 ORDER BY position`;

interface OrderKey {
  readonly id: string;
  readonly accountId: string;
}

/** Returns all lines, in their order. */
export function readLines(tx: Transaction, { id, accountId }: OrderKey): Promise<OrderLine[]> {
  return sql<OrderLine>(tx, selectLines, [id, accountId]);
}

/** Returns the lines that have units, in their order. */
export async function readRemaining(tx: Transaction, order: OrderKey): Promise<OrderLine[]> {
  return (await readLines(tx, order)).filter(hasUnits);
}

export function hasUnits({ quantity }: { readonly quantity: number }): boolean {
  return quantity > 0;
}

/** Returns the line without what was cancelled. */
export function toUnits({ cancelledQuantity: _, ...line }: OrderLine): Omit<OrderLine, 'cancelledQuantity'> {
  return line;
}

/** Returns the line as events show it. */
export function toItem({ productId, name, quantity }: OrderLine): Pick<OrderLine, 'productId' | 'name' | 'quantity'> {
  return { productId, name, quantity };
}
