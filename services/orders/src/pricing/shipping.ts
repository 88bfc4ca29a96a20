// Which shipping methods deliver an order, and what they cost.
import type { Destination } from './destination.ts';
import type { NotDelivered, PricingInput, PricingSettings, ShippingMethod } from './pricing.ts';

/** The methods that can deliver an order: none when nothing has to be sent, or no method is configured. */
export interface Delivery {
  readonly weightGrams: number;
  readonly methods: readonly ShippingMethod[];
  /** Why no method, or not the chosen one, delivers the order. */
  readonly fault?: NotDelivered;
}

/**
 * Returns the methods that deliver an order to a place: the chosen one, or all that serve the country and bear the
 * weight.
 */
export function deliveryOf(input: PricingInput, settings: PricingSettings, { country }: Destination): Delivery {
  const shipped = input.lines.filter((line) => line.shipped);
  const weightGrams = shipped.reduce((total, line) => total + (line.weightGrams ?? 0) * line.quantity, 0);
  const all = settings.shippingMethods;
  if (shipped.length === 0 || all.length === 0) return { weightGrams, methods: [] };
  const { shippingMethodId: chosen } = input;
  const asked = chosen === undefined ? all : all.filter(({ id }) => id === chosen);
  const there = asked.filter(({ countries }) => !countries || (country !== undefined && countries.includes(country)));
  const methods = there.filter(({ maximumWeightGrams }) => weightGrams <= (maximumWeightGrams ?? weightGrams));
  if (methods.length > 0) return { weightGrams, methods };
  const served = servedCountries(asked.length > 0 ? asked : all);
  const most = Math.max(...there.map(({ maximumWeightGrams = 0 }) => maximumWeightGrams));
  const fault: NotDelivered = {
    kind: 'not-delivered-there',
    reason: asked.length === 0 ? 'unknown-method' : there.length === 0 ? 'country' : 'weight',
    ...(served && { countries: served }),
    ...(there.length > 0 && { weightGrams, maximumWeightGrams: most }),
  };
  return { weightGrams, methods, fault };
}

/** Returns the price of a method for lines that cost `goods` after discounts, before a discount on shipping. */
export function shippingPrice(method: ShippingMethod, weightGrams: number, goods: bigint): bigint {
  if (method.freeFromMinor !== undefined && goods >= BigInt(method.freeFromMinor)) return 0n;
  const kilograms = (BigInt(weightGrams) + 999n) / 1000n;
  return BigInt(method.priceMinor) + BigInt(method.pricePerKilogramMinor ?? 0) * kilograms;
}

/** Returns the cheapest method with its price. Of equal prices the smaller position decides, then the smaller id. */
export function cheapestMethod(
  { methods, weightGrams }: Delivery,
  goods: bigint,
): { method: ShippingMethod; price: bigint } | undefined {
  const [cheapest] = methods
    .map((method) => ({ method, price: shippingPrice(method, weightGrams, goods) }))
    .sort(
      (one, other) =>
        Number(one.price - other.price) ||
        one.method.position - other.method.position ||
        (one.method.id < other.method.id ? -1 : 1),
    );
  return cheapest;
}

/** Returns the countries that the methods serve, undefined when one of them serves every country. */
function servedCountries(methods: readonly ShippingMethod[]): string[] | undefined {
  if (methods.some(({ countries }) => !countries)) return undefined;
  return [...new Set(methods.flatMap(({ countries = [] }) => countries))].sort();
}
