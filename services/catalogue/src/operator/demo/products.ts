// The catalogue of the demo shop.
import type { SeedProduct } from '../seed-product.ts';
import { coffee } from './coffee.ts';
import { garden } from './garden.ts';
import { guideKitchen, guideLight } from './guide.ts';
import { kitchen } from './kitchen.ts';
import { light } from './light.ts';
import { office } from './office.ts';
import type { DemoProduct, DemoVariant } from './product.ts';
import { textiles } from './textiles.ts';

const categories = Object.entries({ kitchen, coffee, light, textiles, garden, office });

/** The time at which the newest product was created. */
const lastMoment = Date.UTC(2026, 0, 2, 8);
const minute = 60_000;

/**
 * Returns the products of the demo. The first of each category are the newest, so lists without `sort` begin with them.
 * @param decimals of the shop's currency
 */
export function demoProducts(decimals: number): SeedProduct[] {
  return newestFirst().flatMap(([category, product], place) => {
    const createdAt = lastMoment - place * minute;
    const variants = product.variants ?? [undefined];
    // The first variant is the oldest, so that it stands for the group.
    return variants.map((variant, index) => toSeedProduct(category, product, variant, createdAt + index, decimals));
  });
}

/** Mixes the categories. The products of the guide are the oldest. */
function newestFirst(): (readonly [category: string, product: DemoProduct])[] {
  const most = Math.max(...categories.map(([, products]) => products.length));
  const mixed = Array.from({ length: most }, (_, place) =>
    categories.flatMap(([category, products]) =>
      products.slice(place, place + 1).map((each) => [category, each] as const),
    ),
  );
  const guide = [
    ...guideKitchen.map((each) => ['kitchen', each] as const),
    ...guideLight.map((each) => ['light', each] as const),
  ];
  return [...mixed.flat(), ...guide.reverse()];
}

function toSeedProduct(
  category: string,
  product: DemoProduct,
  variant: DemoVariant | undefined,
  createdAt: number,
  decimals: number,
): SeedProduct {
  const { sku, name, description, brand, kind, colour, guaranteeYears, material, rating } = product;
  const { price, stock = 40, weightGrams = null } = { ...product, ...variant };
  const options = variant?.options;
  const attributes = { colour, guaranteeYears, kind, material, ...options };
  return {
    id: idAt(createdAt),
    name,
    description,
    brand,
    category,
    price: Math.round(price * 10 ** decimals),
    rating: rating === undefined ? null : Math.round(rating * 10),
    status: product.isBackorder === true ? 'backorder' : 'available',
    stock,
    createdAt: new Date(createdAt).toISOString(),
    sku: skuOf([sku, ...Object.values(options ?? {})]),
    attributes: JSON.stringify(Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)))),
    weightGrams,
    taxCategory: product.taxCategory ?? null,
    isShipped: weightGrams === null ? false : null,
    variant: options === undefined ? null : JSON.stringify({ group: sku, options }),
  };
}

function skuOf(parts: readonly string[]): string {
  return parts
    .join('-')
    .toUpperCase()
    .replaceAll('×', 'X')
    .replaceAll('–', '-')
    .replaceAll(/[^A-Z0-9.-]/g, '');
}

/** Returns a UUID version 7 (RFC 9562 section 5.7), equal in each shop. */
function idAt(moment: number): string {
  const time = moment.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7c3a-8d51-5f3b6a1c0e00`;
}
