// What the operations of the catalogue are given.
import type { Database } from '@shop/shared/database';
import type { IdempotencyContext } from '@shop/shared/http';
import type { Products } from './product.ts';
import type { ProductReads } from './product-reads.ts';

export interface CatalogueContext extends IdempotencyContext {
  readonly database: Database;
  /** For lists; whatever else is read is read on `database`. */
  readonly reads: ProductReads;
  readonly products: Products;
  /** How long stock is held for an order that is not heard of. */
  readonly reservationSeconds: number;
}
