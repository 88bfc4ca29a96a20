/** A product that `seed` or the demo adds. The members after `createdAt` are absent in generated products. */
export interface SeedProduct {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly brand: string;
  readonly category: string;
  /** The price in the smallest unit of the currency. */
  readonly price: number;
  /** The rating in tenths; null for a product without one. */
  readonly rating: number | null;
  readonly status: string;
  readonly stock: number;
  readonly createdAt: string;
  readonly sku?: string;
  /** JSON text with the names in order. */
  readonly attributes?: string;
  readonly weightGrams?: number | null;
  /** Null for the category `standard`. */
  readonly taxCategory?: string | null;
  /** Null for a product that is sent. */
  readonly isShipped?: boolean | null;
  /** JSON text with the options in order; null for a product without a group. */
  readonly variant?: string | null;
}
