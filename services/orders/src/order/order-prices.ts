// How responses and events show what an order costs, in major units of the currency.
import type { FieldType } from '@shop/shared/collection';
import type { components } from '../generated.ts';
import type { Pricing, Totals } from '../pricing/pricing.ts';

type Order = components['schemas']['Order'];
type Item = Order['itemsSummary'][number];

/** The members of an order that its pricing adds. */
export type Prices = Pick<
  Order,
  'shipping' | 'discounts' | 'discountTotal' | 'taxes' | 'taxTotal' | 'pricesIncludeTax' | 'taxExempt' | 'taxExemption'
>;

/** `Orders`, as far as amounts are concerned. */
interface Amounts {
  readonly money: FieldType;
}

/** A line with the units that the order has at present. */
export interface ShownLine {
  readonly productId: string;
  readonly name: string;
  readonly quantity: number;
  readonly cancelledQuantity?: number;
  readonly returnedQuantity?: number;
  readonly unitPriceMinor: number;
}

export interface ShownOrder {
  readonly lines: readonly ShownLine[];
  /** Absent for an order without shipping, discounts and taxes. */
  readonly priced?: { readonly pricing: Pricing; readonly totals: Totals } | undefined;
}

/** Returns the lines as responses and events show them. */
export function toItems({ money }: Amounts, { lines, priced }: ShownOrder): Item[] {
  const major = (minor: number): number => Number(money.toJson(minor));
  return lines.map(
    ({ productId, name, quantity, cancelledQuantity = 0, returnedQuantity = 0, unitPriceMinor }, position) => {
      const { discountMinor = 0, taxMinor = 0 } = priced?.totals.lines[position] ?? {};
      return {
        productId,
        name,
        quantity,
        ...(cancelledQuantity > 0 && { cancelledQuantity }),
        ...(returnedQuantity > 0 && { returnedQuantity }),
        unitPrice: major(unitPriceMinor),
        lineTotal: major(unitPriceMinor * quantity),
        ...(discountMinor > 0 && { discount: major(discountMinor) }),
        ...(priced && toTax(priced.pricing, priced.pricing.lines[position]?.rate, major(taxMinor))),
      };
    },
  );
}

/** Returns what `orders.prices` stores; undefined for an order without shipping, discounts and taxes. */
export function toStoredPrices(amounts: Amounts, order: ShownOrder): object | undefined {
  return order.priced && { itemsSummary: toItems(amounts, order), ...toPrices(amounts, order) };
}

/** Returns the members that the pricing of an order adds to responses and events. */
export function toPrices({ money }: Amounts, { priced }: Pick<ShownOrder, 'priced'>): Prices {
  if (priced === undefined) return {};
  const { pricing, totals } = priced;
  const major = (minor: number): number => Number(money.toJson(minor));
  const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
  const discountMinor = sum(totals.discountsMinor);
  const taxes = pricing.rates.flatMap(({ name, rate }, index) => {
    const { baseMinor = 0, amountMinor = 0 } = totals.taxes[index] ?? {};
    if (baseMinor + amountMinor === 0) return [];
    return [{ name, rate: Number(rate), base: major(baseMinor), amount: major(amountMinor) }];
  });
  return {
    ...toShipping(pricing, totals, major),
    ...(discountMinor > 0 && {
      discounts: pricing.discounts.flatMap(({ name, code }, index) => {
        const amountMinor = totals.discountsMinor[index] ?? 0;
        return amountMinor === 0 ? [] : [{ name, ...(code !== undefined && { code }), amount: major(amountMinor) }];
      }),
      discountTotal: major(discountMinor),
    }),
    ...(pricing.taxes !== 'off' && {
      taxes,
      taxTotal: major(sum(totals.taxes.map(({ amountMinor }) => amountMinor))),
      pricesIncludeTax: pricing.taxes === 'included',
      ...(pricing.isTaxExempt && { taxExempt: true as const }),
      ...(totals.exemptionMinor > 0 && { taxExemption: major(totals.exemptionMinor) }),
    }),
  };
}

function toShipping(pricing: Pricing, totals: Totals, major: (minor: number) => number): Pick<Prices, 'shipping'> {
  if (pricing.shipping === undefined || totals.shipping === undefined) return {};
  const { methodId, name, days, rate } = pricing.shipping;
  const { priceMinor, discountMinor, taxMinor } = totals.shipping;
  return {
    shipping: {
      methodId,
      name,
      ...(days && { days }),
      price: major(priceMinor),
      ...(discountMinor > 0 && { discount: major(discountMinor) }),
      ...toTax(pricing, rate, major(taxMinor)),
    },
  };
}

function toTax({ rates }: Pricing, index: number | undefined, tax: number): { taxRate?: number; tax?: number } {
  const rate = index === undefined ? undefined : rates[index];
  return rate === undefined ? {} : { taxRate: Number(rate.rate), tax };
}
