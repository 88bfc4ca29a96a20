// Imports products over HTTP, and follows the import until it has ended.
import type { Calls } from './call.ts';
import type { components } from './contract.ts';
import { pause } from './pause.ts';
import { dataOf } from './shop-error.ts';

type Schemas = components['schemas'];
export type ProductImport = Schemas['ProductImport'];
/** A product of an import. `externalKey` is its `sku`. */
export type ProductLine = Omit<Schemas['NewProduct'], 'sku'> & { readonly externalKey: string };

/** Milliseconds between two requests for the state of an import. */
const progressEvery = 500;

export interface ImportOptions {
  /** Ends the waiting. An import that was stored goes on. */
  readonly signal?: AbortSignal;
  /** Called when the import is stored, and with each of its states that was read. */
  readonly onProgress?: (state: ProductImport) => void;
}

/** @throws ShopError; the reason of the signal when it is aborted */
export async function importProducts(
  call: Calls,
  products: Iterable<ProductLine>,
  { signal = new AbortController().signal, onProgress }: ImportOptions = {},
): Promise<ProductImport> {
  const body = Array.from(products, (product) => `${JSON.stringify(product)}\n`).join('');
  let found = dataOf('importProducts', await call.POST('/v1/products/imports', { body, signal }));
  onProgress?.(found);
  while (found.endedAt === undefined) {
    await pause(progressEvery, signal);
    const params = { path: { importId: found.id } };
    found = dataOf('getProductImport', await call.GET('/v1/products-imports/{importId}', { params, signal }));
    onProgress?.(found);
  }
  return found;
}
