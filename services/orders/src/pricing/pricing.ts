// What the calculation of an order's price reads and returns. Amounts are integers in the smallest unit of the shop's
// currency ("minor units"), at most 999,999,999,999,999.

/** A line of an order with the facts of its product at the time of the order. */
export interface PricingLine {
  readonly productId: string;
  readonly quantity: number;
  readonly unitPriceMinor: number;
  readonly taxCategory: string;
  /** Absent for a product without a weight, which counts as 0. */
  readonly weightGrams?: number;
  /** Whether the product has to be sent to the customer. */
  readonly shipped: boolean;
  readonly brand: string;
  readonly category: string;
  /** The group of variants that the product belongs to. */
  readonly group?: string;
}

/** A text in several languages: a tag of BCP 47 such as `de` → the text. */
export type Texts = Readonly<Record<string, string>>;

export interface ShippingMethod {
  readonly id: string;
  readonly name: Texts;
  /** Codes of ISO 3166-1, such as CH. Absent: every country. */
  readonly countries?: readonly string[];
  readonly priceMinor: number;
  /** The method costs nothing when the lines cost at least this amount after discounts. */
  readonly freeFromMinor?: number;
  /** The price of each kilogram begun. */
  readonly pricePerKilogramMinor?: number;
  readonly maximumWeightGrams?: number;
  readonly days?: { readonly from: number; readonly to: number };
  readonly taxCategory: string;
  readonly position: number;
}

export interface TaxRate {
  readonly id: string;
  readonly country: string;
  readonly region?: string;
  readonly category: string;
  /** In percent with up to 4 decimals, as a decimal string: "8.1". */
  readonly rate: string;
  readonly name: string;
  /** The time at which the rate begins. Absent: it always applied. */
  readonly from?: Date;
}

export interface Discount {
  readonly id: string;
  readonly name: string;
  /** Absent for a discount that applies without a code. */
  readonly code?: string;
  readonly kind: 'percent' | 'amount' | 'free-shipping';
  /** Of `percent`: up to 2 decimals, as a decimal string: "12.5". */
  readonly percent?: string;
  /** Of `amount`. */
  readonly amountMinor?: number;
  /** The discount needs lines of at least this amount, before discounts. */
  readonly minimumMinor?: number;
  /** Absent: all lines. Otherwise the lines that match any of the lists. */
  readonly appliesTo?: {
    readonly productIds?: readonly string[];
    readonly brands?: readonly string[];
    readonly categories?: readonly string[];
    readonly groups?: readonly string[];
  };
  readonly from?: Date;
  readonly until?: Date;
  /** The number of orders that can use the discount. Absent: no bound. */
  readonly uses?: number;
  readonly usesPerAccount?: number;
  /** Whether the discount can be used together with other combinable discounts. */
  readonly combinable: boolean;
}

/** Everything that staff configured. */
export interface PricingSettings {
  /** Increases with each change of the settings. */
  readonly version: number;
  /** `included`: prices contain the tax. `added`: the tax is added to them. */
  readonly taxes: 'off' | 'included' | 'added';
  /** The country of orders without an address; a code of ISO 3166-1. Absent only when no tax is configured. */
  readonly country?: string;
  readonly shippingMethods: readonly ShippingMethod[];
  readonly taxRates: readonly TaxRate[];
  /** The discounts without a code. */
  readonly discounts: readonly Discount[];
}

export interface PricingInput {
  /** At least one line, and each product once. */
  readonly lines: readonly PricingLine[];
  readonly address?: { readonly country?: string; readonly region?: string };
  readonly shippingMethodId?: string;
  /** The discount of the code that the customer gave. */
  readonly discount?: Discount;
  /** Whether the customer pays no tax, because the customer owes it (reverse charge). */
  readonly isTaxExempt?: boolean;
  /** The time of the order. */
  readonly at: Date;
}

/** What `priceOrder` returns. An order is placed only without a fault. */
export interface PricedOrder {
  /** Without shipping, or the given discount, when a fault concerns it. Absent when an amount is too large. */
  readonly pricing?: Pricing;
  readonly faults: readonly PricingFault[];
}

export type PricingFault = NotDelivered | DiscountNotApplicable | { readonly kind: 'total-too-large' };

export interface NotDelivered {
  readonly kind: 'not-delivered-there';
  /**
   * `weight`: methods serve the country, but the order is too heavy for them. All reasons concern the chosen method
   * alone, if any.
   */
  readonly reason: 'unknown-method' | 'country' | 'weight';
  /** The countries that the chosen method serves, or else all methods. Absent when it is every country. */
  readonly countries?: readonly string[];
  /** Of `weight`: the weight of the order. */
  readonly weightGrams?: number;
  /** Of `weight`: the largest weight that can be sent to the country. */
  readonly maximumWeightGrams?: number;
}

export type DiscountNotApplicable = { readonly kind: 'discount-not-applicable' } & (
  | { readonly reason: 'not-begun'; readonly from: Date }
  | { readonly reason: 'ended'; readonly until: Date }
  | { readonly reason: 'other-products' }
  | { readonly reason: 'minimum'; readonly minimumMinor: number; readonly missingMinor: number }
);

/** What an order costs and why. It is stored with the order and never changes. */
export interface Pricing {
  /** The version of the settings. */
  readonly version: number;
  readonly taxes: PricingSettings['taxes'];
  readonly isTaxExempt?: true;
  readonly discounts: readonly { readonly id: string; readonly name: string; readonly code?: string }[];
  /**
   * The ids of the discounts whose use was counted when the order was placed, and is given back when it is cancelled.
   */
  readonly counted?: readonly string[];
  /** The tax rates of the lines and of shipping, each once. Empty with `isTaxExempt`. */
  readonly rates: readonly { readonly name: string; readonly rate: string }[];
  /** In the order of the lines. */
  readonly lines: readonly {
    readonly unitPriceMinor: number;
    readonly quantity: number;
    readonly shipped: boolean;
    /** The part of the line in each discount of `discounts`. */
    readonly discountsMinor: readonly number[];
    /** The index in `rates`; absent without a tax. */
    readonly rate?: number;
    /** With `isTaxExempt`: the tax that is taken out of the price. */
    readonly taxMinor: number;
  }[];
  /** Absent when nothing has to be sent, or no method is configured. */
  readonly shipping?: {
    readonly methodId: string;
    readonly name: Texts;
    readonly days?: { readonly from: number; readonly to: number };
    readonly priceMinor: number;
    readonly discountsMinor: readonly number[];
    readonly rate?: number;
    readonly taxMinor: number;
  };
}

/** What the customer pays for the units of a line, or for shipping. */
export interface Amounts {
  /** Before discounts. */
  readonly priceMinor: number;
  readonly discountMinor: number;
  /** Contained in the price, or added to it, as `Pricing.taxes` says. 0 for an exempt customer. */
  readonly taxMinor: number;
  /** Price less discount; and the tax when it is added; without the tax in the price for an exempt customer. */
  readonly totalMinor: number;
}

/** The amounts of an order, or of what is left of it after cancellations and returns. */
export interface Totals {
  /** In the order of the lines. */
  readonly lines: readonly (Amounts & { readonly quantity: number })[];
  /** Absent when nothing of the order has to be sent any more. */
  readonly shipping?: Amounts;
  /** In the order of `Pricing.discounts`. */
  readonly discountsMinor: readonly number[];
  /** In the order of `Pricing.rates`. `baseMinor` is the amount without the tax. */
  readonly taxes: readonly { readonly baseMinor: number; readonly amountMinor: number }[];
  /** The tax in the prices that an exempt customer does not pay. 0 for others, and when taxes are added. */
  readonly exemptionMinor: number;
  /** What the customer pays. */
  readonly totalMinor: number;
}
