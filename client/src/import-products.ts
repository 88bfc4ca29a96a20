// Imports products over HTTP, and follows the import until it has ended.
import type { Calls } from './call.ts';
import type { components } from './contract.ts';
import { dataOf } from './shop-error.ts';

type Schemas = components['schemas'];
export type ProductImport = Schemas['ProductImport'];
/** A product of an import. `externalKey` is its `sku`. */
export type ProductLine = Omit<Schemas['NewProduct'], 'sku'> & { readonly externalKey: string };

/** Milliseconds between two requests for the state of an import. */
const progressEvery = 500;

/** @throws ShopError */
export async function importProducts(call: Calls, products: Iterable<ProductLine>): Promise<ProductImport> {
  const body = Array.from(products, (product) => `${JSON.stringify(product)}\n`).join('');
  let found = dataOf('importProducts', await call.POST('/v1/products/imports', { body }));
  while (found.endedAt === undefined) {
    await new Promise((resolve) => setTimeout(resolve, progressEvery));
    const params = { path: { importId: found.id } };
    found = dataOf('getProductImport', await call.GET('/v1/products-imports/{importId}', { params }));
  }
  return found;
}
