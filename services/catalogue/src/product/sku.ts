// No two products have the same SKU. The unique index decides between concurrent requests.
import { type Database, sql, type Transaction, violatedConstraint } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { parseId } from '@shop/shared/runtime';

/**
 * Rejects a SKU that is the id of another product, because exports and imports use that id as a key.
 * @throws Problem 409 that names the other product
 */
export async function refuseIdAsSku(tx: Transaction, productId: string, sku: string | null): Promise<void> {
  const id = sku === null ? undefined : parseId(sku);
  if (id === undefined || id === productId) return;
  const [other] = await sql<{ id: string }>(tx, 'SELECT id FROM products WHERE id = $1', [id]);
  if (other === undefined) return;
  const detail = 'The sku is the id of another product. Nothing was changed. Use another sku.';
  const errors = [{ pointer: '/sku', detail: 'is the id of another product', productId: other.id }];
  throw new Problem('sku-in-use', detail, { errors });
}

/**
 * Converts the error of a transaction that wrote a product with this SKU.
 * @throws Problem 409 that names the product with the SKU; every other error unchanged
 */
export async function refuseUsedSku(error: unknown, database: Database, sku: string | null = null): Promise<never> {
  if (violatedConstraint(error) !== 'products_external_key') throw error;
  const { rows } = await database.pool.query<{ id: string }>(byItsSku, [sku]);
  throw skuInUse(rows);
}

/** Returns the problem of a product that was not inserted, because another one has its SKU. */
export async function usedSku(tx: Transaction, sku: string | null): Promise<Problem> {
  return skuInUse(await sql<{ id: string }>(tx, byItsSku, [sku]));
}

const byItsSku = 'SELECT id FROM products WHERE external_key = $1';

/** @param others the product with the SKU; empty when it has got another SKU meanwhile */
function skuInUse(others: readonly { readonly id: string }[]): Problem {
  const errors = others.map(({ id }) => ({ pointer: '/sku', detail: 'is the sku of another product', productId: id }));
  const detail = 'Another product has this sku. Nothing was changed. Change that product, or use another sku.';
  return new Problem('sku-in-use', detail, { errors });
}
