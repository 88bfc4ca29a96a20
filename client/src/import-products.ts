// Imports products over HTTP, and follows the import until it has ended.
import type { Calls } from './call.ts';
import type { components } from './contract.ts';
import type { ChangeOptions } from './operate.ts';
import { pause } from './pause.ts';
import { dataOf } from './shop-error.ts';

type Schemas = components['schemas'];
export type ProductImport = Schemas['ProductImport'];
/** A product of an import. `externalKey` is its `sku`. */
export type ProductLine = Omit<Schemas['NewProduct'], 'sku'> & { readonly externalKey: string };

/** Milliseconds between two requests for the state of an import. */
const progressEvery = 500;

export interface ImportOptions extends ChangeOptions {
  /** Stops the waiting. A stored import continues. */
  readonly signal?: AbortSignal;
  /** Called when the import is stored, and with each of its states that was read. */
  readonly onProgress?: (state: ProductImport) => void;
}

/**
 * @param isTemporary whether a failed read may succeed later; such failures do not stop the waiting
 * @throws ShopError; the error of `fetch` when the import cannot be sent; the reason of the signal when it is aborted
 */
export async function importProducts(
  call: Calls,
  isTemporary: (error: unknown) => boolean,
  products: Iterable<ProductLine>,
  { signal = new AbortController().signal, idempotencyKey, onProgress }: ImportOptions = {},
): Promise<ProductImport> {
  const body = Array.from(products, (product) => `${JSON.stringify(product)}\n`).join('');
  const header = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  const init = { params: { header }, body, signal };
  let found = dataOf('importProducts', await call.POST('/v1/products/imports', init));
  onProgress?.(found);
  while (found.endedAt === undefined) {
    await pause(progressEvery, signal);
    const state = await readImport(call, found.id, signal).catch((error: unknown) => {
      if (signal.aborted || !isTemporary(error)) throw error;
    });
    if (state === undefined) continue;
    found = state;
    onProgress?.(found);
  }
  return found;
}

async function readImport(call: Calls, importId: string, signal: AbortSignal): Promise<ProductImport> {
  const params = { path: { importId } };
  return dataOf('getProductImport', await call.GET('/v1/products-imports/{importId}', { params, signal }));
}
