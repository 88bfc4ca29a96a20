// The products of the examples in docs/filtering.md. The demo catalogue has them, so that the examples find something.
import type { SampleProduct } from './sample-products.ts';

/** Name, brand, category, price in major units, rating, status, in the order of their creation. */
const rows = [
  ['Kettle', 'Acme', 'kitchen', 39.9, 4.5, 'available'],
  ['Mug', 'Smith, Sons', 'kitchen', 6.5, null, 'available'],
  ['Pan', 'Acme', 'kitchen', 24, 4.1, 'available'],
  ['Lamp', 'Lumen', 'light', 49.5, 3.8, 'backorder'],
  ['Bulb', 'Lumen', 'light', 2.25, 4.5, 'available'],
  ['Candle', 'Wax:Works', 'light', 6.5, 2, 'backorder'],
] as const;

/** After the last sample product. */
const firstMoment = Date.UTC(2026, 0, 2, 8);

/** @param decimals of the shop's currency */
export function guideProducts(decimals: number): SampleProduct[] {
  return rows.map(([name, brand, category, price, rating, status], index) => {
    const createdAt = firstMoment + index * 60_000;
    const time = createdAt.toString(16).padStart(12, '0');
    return {
      id: `${time.slice(0, 8)}-${time.slice(8)}-7c3a-8d51-5f3b6a1c0e0${index + 1}`,
      name,
      description: `A product of the examples about filters: ${name.toLowerCase()} of ${brand}.`,
      brand,
      category,
      price: Math.round(price * 10 ** decimals),
      rating: rating === null ? null : Math.round(rating * 10),
      status,
      stock: status === 'backorder' ? 0 : 100,
      createdAt: new Date(createdAt).toISOString(),
      sku: `GUIDE-${index + 1}`,
      attributes: JSON.stringify({ colour: 'white', guaranteeYears: 2, material: 'steel' }),
      weightGrams: 500,
      taxCategory: null,
      isShipped: null,
      variant: null,
    };
  });
}
