// No two products have the same SKU. The unique index decides between concurrent requests.
import { type Database, violatedConstraint } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';

/**
 * Handles the error of a transaction that wrote a product with this SKU.
 * @throws Problem 409 that names the product that has the SKU; every other error as it is
 */
export async function refuseUsedSku(error: unknown, database: Database, sku: string | null = null): Promise<never> {
  if (violatedConstraint(error) !== 'products_external_key') throw error;
  const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM products WHERE external_key = $1', [sku]);
  // The other product may have lost the SKU since.
  const errors = rows.map(({ id }) => ({ pointer: '/sku', detail: 'is the sku of another product', productId: id }));
  const detail = 'Another product has this sku. Nothing was changed. Change that product, or use another sku.';
  throw new Problem('sku-in-use', detail, { errors });
}
