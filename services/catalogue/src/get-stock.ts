// GET /v1/products/{productId}/stock: the stock figures of a product, for staff.
import type { Operation } from './context.ts';
import { noSuchProduct } from './product.ts';

/** 404 for an unknown id. Read from the primary, because a count starts from these figures. */
export const getStock: Operation<'getStock'> = async ({ path }, { database }) => {
  const { rows } = await database.pool.query<{ onHand: number; promised: number; available: number }>({
    name: 'stock',
    text: `SELECT stock AS "onHand", reserved + oversold AS promised, stock - reserved AS available
           FROM products WHERE id = $1`,
    values: [path.productId],
  });
  const [figures] = rows;
  if (!figures) throw noSuchProduct();
  return { status: 200, body: { productId: path.productId, ...figures } };
};
