// A line that an order wants: the facts of its product by which orders prices it, and the reason why it cannot be
// reserved.
import type { Fault } from '@shop/shared/problem';
import type { components } from '../generated.ts';

export type WantedLine = components['schemas']['NewReservation']['lines'][number];
export type ReservedLine = components['schemas']['ReservedLine'];

/** Further columns of a product in a SELECT or RETURNING list, as `toFacts` reads them. */
export const factColumns = `brand, category, coalesce(tax_category, 'standard') AS "taxCategory",
  weight_grams AS "weightGrams", coalesce(is_shipped, true) AS shipped, variant_group AS "group"`;

/** A line with all facts of its product. */
export interface LineRow extends Omit<ReservedLine, 'weightGrams' | 'group'> {
  readonly weightGrams: number | null;
  readonly group: string | null;
}

/** Returns the line of a response. A fact that the product lacks is absent. */
export function toReservedLine(row: LineRow): ReservedLine {
  const { productId, quantity, name, unitPriceMinor, usualPriceMinor, brand, category } = row;
  const { taxCategory, weightGrams, shipped, group } = row;
  return {
    productId,
    quantity,
    name,
    unitPriceMinor,
    usualPriceMinor,
    brand,
    category,
    taxCategory,
    ...(weightGrams !== null && { weightGrams }),
    shipped,
    ...(group !== null && { group }),
  };
}

/** An SQL condition: orders can have the product. */
export const isForSale = "status <> 'pending'";

/** An SQL expression: the units of the product that orders can still reserve. */
export const reservableUnits = `
  CASE status WHEN 'backorder' THEN 1000000000 - reserved - oversold ELSE stock - reserved END`;

/** Responses report at most this number of units, so that they do not reveal the stock. */
const shownUnits = 99;

export type LineFault = Fault & NonNullable<components['schemas']['PricedLine']['fault']>;

/**
 * Returns the fault of a line that cannot be reserved.
 * @param index of the line in the request
 * @param reservable the reservable units of the product; undefined when it is not for sale
 */
export function lineFault(
  index: number,
  { productId, quantity }: WantedLine,
  reservable: number | undefined,
): LineFault {
  const at = { pointer: `/lines/${index}`, productId };
  if (reservable === undefined) return { ...at, detail: 'is no product that can be ordered' };
  const available = reservable > shownUnits ? (`${shownUnits}+` as const) : reservable;
  return { ...at, detail: `${quantity} requested, ${available} available`, requested: quantity, available };
}
