import type { Operation } from './context.ts';
import { noSuchProduct } from './product.ts';

/** 404 for an unknown id. create-app makes a 304 from the entity tag. */
export const getProduct: Operation<'getProduct'> = async ({ path }, { database, products }) => {
  const { rows } = await database.pool.query<(string | null)[]>({
    name: 'product',
    text: `SELECT ${products.columns} FROM products WHERE id = $1`,
    values: [path.productId],
    rowMode: 'array',
  });
  const [row] = rows;
  if (!row) throw noSuchProduct();
  return products.reply(200, row);
};
