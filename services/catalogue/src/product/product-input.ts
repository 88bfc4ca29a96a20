// A product in a request, and its columns in the database.
import { decimal } from '@shop/shared/collection';
import { nodeOf, refuseFaults } from '@shop/shared/contract';
import type { Fault } from '@shop/shared/problem';
import { decimalsOf } from '@shop/shared/shop';
import type { components } from '../generated.ts';

/** A valid product: the body of a creation, or a product after a merge patch. */
export type ProductInput = components['schemas']['NewProduct'];

/** The columns that clients write, in the order of `columnValues`. */
export const writtenColumns = [
  'name',
  'description',
  'brand',
  'category',
  'price_minor',
  'rating_tenths',
  'status',
  'stock',
  'low_stock_threshold',
  'external_key',
  'images',
  'attributes',
] as const;

export type WrittenRow = Readonly<{
  name: string;
  description: string | null;
  brand: string;
  category: string;
  price_minor: number;
  rating_tenths: number | null;
  status: NonNullable<ProductInput['status']>;
  stock: number;
  low_stock_threshold: number | null;
  /** The `sku`. */
  external_key: string | null;
  /** JSON text. */
  images: string | null;
  /** JSON text with the names in order. */
  attributes: string | null;
}>;

/** The maximum number of attributes. A merge patch can add up to this number to those that the product has. */
const mostAttributes = 50;

const rating = decimal(1);

/** The largest price in minor units, whatever the currency. It is also the bound of the column. */
export const maximumPrice = 100_000_000_000;

/** Checks that a schema cannot express: the decimals of the price, the addresses of images, and the currency. */
export function productFaults(body: unknown, currency: string): Fault[] {
  const given = nodeOf(body);
  const price = decimal(decimalsOf(currency));
  const faults = Object.entries({ price, rating }).flatMap(([name, type]): Fault[] => {
    const value = given[name] ?? undefined;
    const units = type.fromJson(value);
    if (value !== undefined && units === undefined) return [{ pointer: `/${name}`, detail: `must be ${type.expects}` }];
    if (name !== 'price' || Number(units ?? 0) <= maximumPrice) return [];
    return [{ pointer: '/price', detail: `must be <= ${price.toText(maximumPrice)}` }];
  });
  faults.push(...imageFaults(given.images));
  if ((given.currency ?? currency) === currency) return faults;
  return [...faults, { pointer: '/currency', detail: `must be ${currency}: all prices of this shop are` }];
}

function imageFaults(images: unknown): Fault[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image, index): Fault[] => {
    const { url } = nodeOf(image);
    const address = typeof url === 'string' && url.startsWith('https://') ? URL.parse(url) : undefined;
    if (address === undefined || (address !== null && address.username === '' && address.password === '')) return [];
    return [{ pointer: `/images/${index}/url`, detail: 'must be an https URL without a user and a password' }];
  });
}

/** @throws Problem `invalid-request` when a merge patch results in too many attributes */
export function refuseSurplusAttributes({ attributes = {} }: ProductInput): void {
  const count = Object.keys(attributes).length;
  if (count <= mostAttributes) return;
  const detail = `must not have more than ${mostAttributes} members; with this change the product would have ${count}`;
  refuseFaults([], [{ pointer: '/attributes', detail }]);
}

/** The row of a valid input. */
export function toRow(input: ProductInput, currency: string): WrittenRow {
  return {
    name: input.name,
    description: input.description ?? null,
    brand: input.brand,
    category: input.category,
    price_minor: Number(decimal(decimalsOf(currency)).fromJson(input.price)),
    rating_tenths: input.rating === undefined ? null : Number(rating.fromJson(input.rating)),
    status: input.status ?? 'available',
    stock: input.stock ?? 0,
    low_stock_threshold: input.lowStockThreshold ?? null,
    external_key: input.sku ?? null,
    images: toText((input.images ?? []).map(({ url, alt }) => ({ url, alt }))),
    attributes: toText(sorted(input.attributes ?? {})),
  };
}

/** Returns null for an empty list and an empty object. */
function toText(value: object): string | null {
  return Object.keys(value).length === 0 ? null : JSON.stringify(value);
}

function sorted<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the input that corresponds to a row, as the target of a merge patch. */
export function toInput(row: WrittenRow, currency: string): ProductInput {
  const price = decimal(decimalsOf(currency));
  return {
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    brand: row.brand,
    category: row.category,
    price: Number(price.toText(row.price_minor)),
    ...(row.rating_tenths === null ? {} : { rating: row.rating_tenths / 10 }),
    status: row.status,
    stock: row.stock,
    ...(row.low_stock_threshold === null ? {} : { lowStockThreshold: row.low_stock_threshold }),
    ...(row.external_key === null ? {} : { sku: row.external_key }),
    ...(row.images === null ? {} : { images: JSON.parse(row.images) }),
    ...(row.attributes === null ? {} : { attributes: JSON.parse(row.attributes) }),
  };
}

export function columnValues(row: WrittenRow): (string | number | null)[] {
  return writtenColumns.map((column) => row[column]);
}
