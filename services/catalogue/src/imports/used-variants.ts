// Lines of an import whose variant belongs to another product.
import { sql, type Transaction } from '@shop/shared/database';

/** A product as a line of the import would write it. */
export interface GivenVariant {
  readonly id: string;
  readonly row: { readonly variant: string | null };
  /** Absent for a new product. */
  readonly present?: { readonly variant: string | null };
}

/**
 * Returns the products that cannot get their variant, each with the product that has it. A product can get what another
 * one of the same lines gives up. The caller has locked the groups.
 * @param products in the order of their lines
 */
export async function usedVariants(
  tx: Transaction,
  products: readonly GivenVariant[],
): Promise<ReadonlyMap<string, string>> {
  const used = new Map<string, string>();
  let changing = products.filter(({ row, present }) => row.variant !== (present?.variant ?? null));
  if (changing.every(({ row }) => row.variant === null)) return used;
  const holders = await sql<{ id: string; variant: string }>(tx, findHolders, [changing.map(({ row }) => row.variant)]);
  // A product that cannot change keeps its variant, which another line may have counted on.
  for (let rest = 0; rest !== changing.length; ) {
    rest = changing.length;
    const leaving = new Set(changing.map(({ id }) => id));
    const taken = new Map(holders.flatMap(({ id, variant }) => (leaving.has(id) ? [] : [[keyOf(variant), id]])));
    changing = changing.filter(({ id, row }) => {
      if (row.variant === null) return true;
      const key = keyOf(row.variant);
      const other = taken.get(key);
      if (other === undefined) taken.set(key, id);
      else if (other !== id) used.set(id, other);
      return !used.has(id);
    });
  }
  return used;
}

const findHolders = `
  SELECT id, variant FROM products
  WHERE variant_key IS NOT NULL AND variant_key IN (SELECT md5((given::jsonb - 'lead')::text) FROM unnest($1::text[]) AS given)`;

/** Returns the group and the options of a column. */
function keyOf(variant: string): string {
  const { group, options } = JSON.parse(variant);
  return JSON.stringify([group, options]);
}
