// A product as staff writes it, and the columns that it becomes.
import { decimal } from '@shop/shared/collection';
import { type Fault, Problem } from '@shop/shared/http';
import { decimalsOf } from '@shop/shared/runtime';

/** What the contract lets through; a body on create, the outcome of a merge patch on update. */
export interface ProductInput {
  name: string;
  description?: string;
  brand: string;
  category: string;
  /** Major units. */
  price: number;
  currency?: string;
  rating?: number;
  status?: string;
  stock?: number;
}

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
] as const;

export type WrittenRow = Readonly<{
  name: string;
  description: string | null;
  brand: string;
  category: string;
  price_minor: number;
  rating_tenths: number | null;
  status: string;
  stock: number;
}>;

/**
 * The row of an input. What a schema cannot say is checked here: decimals of the currency, and the currency itself.
 * @throws Problem 400 with a fault for each
 */
export function toRow(input: ProductInput, currency: string): WrittenRow {
  const faults: Fault[] = [];
  const units = (name: 'price' | 'rating', scale: number): number | null => {
    const given = input[name];
    if (given === undefined) return null;
    const value = decimal(scale).fromJson(given);
    if (typeof value === 'number') return value;
    faults.push({ pointer: `/${name}`, detail: `must be ${decimal(scale).expects}` });
    return null;
  };
  const price = units('price', decimalsOf(currency));
  const rating = units('rating', 1);
  if (input.currency !== undefined && input.currency !== currency) {
    faults.push({ pointer: '/currency', detail: `must be ${currency}: all prices of this shop are` });
  }
  if (faults.length > 0) throw new Problem('invalid-request', 'The product cannot be taken.', { errors: faults });
  return {
    name: input.name,
    description: input.description ?? null,
    brand: input.brand,
    category: input.category,
    price_minor: price ?? 0,
    rating_tenths: rating,
    status: input.status ?? 'available',
    stock: input.stock ?? 0,
  };
}

/** The input that a row would have come from: what a merge patch is applied to. */
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
  };
}

export function columnValues(row: WrittenRow): (string | number | null)[] {
  return writtenColumns.map((column) => row[column]);
}
