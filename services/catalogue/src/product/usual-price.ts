// The price that a product had a week ago, by which orders recognizes prices that were lowered far.

/**
 * Returns the SQL expression for the usual price: the one that the product had 7 days ago, or its first one if it is
 * newer.
 * @param productId an SQL expression
 * @param price an SQL expression for the present price
 */
export function usualPriceSql(productId: string, price: string): string {
  return `coalesce((
    SELECT old_price_minor FROM product_changes AS price_change
    WHERE price_change.product_id = ${productId} AND old_price_minor IS NOT NULL
      AND price_change.created_at > now() - interval '7 days'
    ORDER BY price_change.created_at LIMIT 1), ${price})`;
}
