// The context that main.ts gives to the operations of the catalogue.
import type { Database } from '@shop/shared/database';
import type { IdempotencyContext, TypedOperation } from '@shop/shared/http';
import type { operations } from './generated.ts';
import type { Products } from './product/product.ts';
import type { ProductReads } from './product/product-reads.ts';

export interface CatalogueContext extends IdempotencyContext {
  readonly database: Database;
  /** Reads lists. All other reads use `database`. */
  readonly reads: ProductReads;
  readonly products: Products;
  /** Seconds for which a reservation is held until its order is confirmed. */
  readonly reservationSeconds: number;
}

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations, Needed = CatalogueContext> = TypedOperation<operations[Id], Needed>;
