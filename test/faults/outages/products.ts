// Products for the buyers.
import { newId } from '@shop/shared/runtime';
import type pg from 'pg';

/** Adds products to the catalogue, and returns their ids in ascending order. */
export async function addProducts(admin: pg.Pool, count: number, stock: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId()).sort();
  await admin.query(
    `WITH made AS (
       INSERT INTO catalogue.products (id, name, brand, category, price_minor, status, stock)
       SELECT id, 'Product ' || n, 'Brand', 'Category', 100 * n, 'active', $2
         FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, n) RETURNING id
     )
     INSERT INTO catalogue.stock_ledger (product_id, kind, quantity, stock_after, promised_after)
     SELECT id, 'received', $2, $2, 0 FROM made WHERE $2 > 0`,
    [ids, stock],
  );
  return ids;
}
