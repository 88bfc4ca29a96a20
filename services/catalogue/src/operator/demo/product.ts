// A product of the demo shop, or a group of variants that share a name.
export interface DemoProduct {
  /** What it is, as `kettle`: an attribute, and the name of a drawing in examples/storefront/pictures. */
  readonly kind: string;
  /** The SKU, or the group to whose SKUs the options are added. */
  readonly sku: string;
  readonly name: string;
  readonly description: string;
  readonly brand: string;
  /** In major units. */
  readonly price: number;
  /** Absent for a product that nobody has rated. */
  readonly rating?: number;
  /** Default: 40. */
  readonly stock?: number;
  readonly isBackorder?: boolean;
  /** Absent for a product that is not sent. */
  readonly weightGrams?: number;
  /** Default: `standard`. */
  readonly taxCategory?: 'reduced';
  readonly colour?: string;
  readonly material?: string;
  readonly guaranteeYears?: number;
  readonly variants?: readonly DemoVariant[];
}

/** The options in which a product of a group differs, and the members that differ with them. */
export interface DemoVariant extends Partial<Pick<DemoProduct, 'price' | 'stock'>> {
  readonly options: Readonly<Record<string, string>>;
  /** Null for a variant that is not sent. */
  readonly weightGrams?: number | null;
}

/** Returns a variant for each value of an option. */
export function each(name: string, values: readonly string[], soldOut?: string): DemoVariant[] {
  return values.map((value) => ({ options: { [name]: value }, ...(value === soldOut && { stock: 0 }) }));
}
