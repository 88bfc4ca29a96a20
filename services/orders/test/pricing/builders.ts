// Short forms of orders and settings for the tests of the rules.
import { priceOrder } from '../../src/pricing/price-order.ts';
import type {
  Discount,
  PricedOrder,
  PricingInput,
  PricingLine,
  PricingSettings,
  ShippingMethod,
  TaxRate,
} from '../../src/pricing/pricing.ts';

export const at = new Date('2026-06-01T12:00:00Z');

export function line(changes: Partial<PricingLine> = {}): PricingLine {
  const plain = { productId: 'p0', quantity: 1, unitPriceMinor: 1_000, taxCategory: 'standard', shipped: true };
  return { ...plain, brand: 'Acme', category: 'Music', ...changes };
}

export function method(id: string, changes: Partial<ShippingMethod> = {}): ShippingMethod {
  return { id, name: { en: id }, priceMinor: 500, taxCategory: 'standard', position: 1, ...changes };
}

export function rate(percent: string, changes: Partial<TaxRate> = {}): TaxRate {
  return { id: percent, country: 'CH', category: 'standard', rate: percent, name: 'VAT', ...changes };
}

export function amountOff(id: string, amountMinor: number, changes: Partial<Discount> = {}): Discount {
  return { id, name: id, kind: 'amount', amountMinor, combinable: false, ...changes };
}

export function price(input: Partial<PricingInput> = {}, settings: Partial<PricingSettings> = {}): PricedOrder {
  const none = { shippingMethods: [], taxRates: [], discounts: [] };
  return priceOrder(
    { lines: [line()], at, ...input },
    { version: 7, taxes: 'off', country: 'CH', ...none, ...settings },
  );
}
