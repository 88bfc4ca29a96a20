// What the operations of the catalogue are given.
import type { Database } from '@shop/shared/database';
import type { IdempotencyContext, TypedOperation } from '@shop/shared/http';
import type { operations } from './generated.ts';
import type { Products } from './product.ts';
import type { ProductReads } from './product-reads.ts';

export interface CatalogueContext extends IdempotencyContext {
  readonly database: Database;
  /** For lists; whatever else is read is read on `database`. */
  readonly reads: ProductReads;
  readonly products: Products;
  /** Seconds for which stock is reserved while no event about the order arrives. */
  readonly reservationSeconds: number;
}

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations, Needed = CatalogueContext> = TypedOperation<operations[Id], Needed>;
