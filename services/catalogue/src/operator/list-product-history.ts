// Lists the changes of a product for operators.
import { type Environment, isId, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readCommandConfig } from '../config.ts';
import type { ChangedMember } from '../product/product-changes.ts';

export interface RecordedChange {
  readonly id: string;
  readonly createdAt: Date;
  readonly by: string;
  /** The account of the member of staff, or the client id of the machine; null for a command. */
  readonly staffId: string | null;
  readonly requestId: string | null;
  readonly reason: string | null;
  readonly changes: readonly ChangedMember[];
}

const findProduct =
  'SELECT id FROM products WHERE external_key = $1 OR id = $2 ORDER BY external_key = $1 DESC LIMIT 1';

const listChanges = `
  SELECT id, created_at AS "createdAt", actor AS by, actor_id AS "staffId", request_id AS "requestId", reason, changes
  FROM product_changes WHERE product_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`;

/**
 * @param environment the variables of catalogue, of which DATABASE_URL and SHOP_CURRENCY are read
 * @param product the sku or the id of the product
 * @returns at most `limit` changes, newest first
 * @throws StartError when the product does not exist
 */
export function listProductHistory(
  environment: Environment,
  product: string,
  limit: number,
): Promise<readonly RecordedChange[]> {
  const { databaseUrl: url } = readCommandConfig(environment);
  return withDatabase({ url, name: 'products history' }, async ({ pool }) => {
    const found = await pool.query<{ id: string }>(findProduct, [product, isId(product) ? product : null]);
    const [row] = found.rows;
    if (row === undefined) throw new StartError(`there is no product with the sku or the id ${product}`);
    return (await pool.query<RecordedChange>(listChanges, [row.id, limit])).rows;
  });
}
