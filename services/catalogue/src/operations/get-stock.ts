// GET /v1/products/{productId}/stock: the stock figures of a product, for staff.
import type { Operation } from '../context.ts';
import type { components } from '../generated.ts';
import { noSuchProduct, stockFigures } from '../product/product.ts';

type StockFigures = components['schemas']['ProductStock'];

/** 404 for an unknown id. The figures are read from the primary, because a stock count starts from them. */
export const getStock: Operation<'getStock'> = async ({ path }, { database }) => {
  const { rows } = await database.pool.query<{ figures: StockFigures }>({
    name: 'stock',
    text: `SELECT ${stockFigures} AS figures FROM products WHERE id = $1`,
    values: [path.productId],
  });
  const [row] = rows;
  if (!row) throw noSuchProduct();
  return { status: 200, body: { productId: path.productId, ...row.figures } };
};
