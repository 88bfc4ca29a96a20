// Variants: products of one group that differ in their options. The database chooses the product that leads a group
// (migrations/0061_variants.sql).
import { boolean, type CollectionSpec, type Field, json, listed, none, text } from '@shop/shared/collection';
import { refuseFaults } from '@shop/shared/contract';
import { sql, type Transaction } from '@shop/shared/database';
import { type Fault, Problem } from '@shop/shared/problem';
import type { ProductInput } from './product-columns.ts';

/** The maximum number of variants that a product shows. */
const shownVariants = 100;
const mostOptions = 5;

/** The fields by which lists are filtered. They are no members of a product. */
export const variantFilters: Readonly<Record<string, Field<unknown>>> = {
  'variant.group': {
    type: text(100),
    operators: listed,
    column: 'variant_group',
    filterOnly: true,
    fewRows: true,
    // Only for products with a group, as the index.
    condition: (operator, parameter) =>
      operator === 'in'
        ? `(variant_group IS NOT NULL AND variant_group = ANY(${parameter}))`
        : `variant_group = ${parameter}`,
  },
  lead: { type: boolean(), operators: listed, column: 'is_lead', filterOnly: true },
};

/** Returns the spec of one product, which also shows the visible products of its group, the oldest first. */
export function withVariants(spec: CollectionSpec<unknown>): CollectionSpec<unknown> {
  const price = spec.fields.price?.type;
  const write = (column: string | null): string | undefined => {
    if (column === null) return undefined;
    const found = JSON.parse(column) as readonly [id: string, options: object, price: string, inStock: boolean][];
    const written = found.map(
      ([id, options, minor, inStock]) =>
        `{"id":"${id}","options":${JSON.stringify(options)},"price":${price?.write(minor)},"inStock":${inStock}}`,
    );
    return `[${written.join()}]`;
  };
  const from = `${spec.from} LEFT JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(id, options, price, is_in_stock) ORDER BY created_at, id), '[]')::text
      AS variants
    FROM (
      SELECT id, variant::json -> 'options' AS options, price_minor::text AS price, stock > reserved AS is_in_stock,
        created_at
      FROM products AS other WHERE other.variant_group = products.variant_group AND status <> 'pending'
      ORDER BY created_at, id LIMIT ${shownVariants}
    ) AS shown
  ) AS others ON products.variant_group IS NOT NULL`;
  return {
    ...spec,
    from,
    fields: { ...spec.fields, variants: { type: json(), operators: none, column: 'variants', write } },
  };
}

/** An SQL expression of a spec with variants: digits that change with the shown variants; NULL without a group. */
export const variantsDigits = "lpad((hashtextextended(variants, 0) & 9223372036854775807)::text, 19, '0')";

/**
 * Locks the groups of these products and further ones, and then the products with all others of the groups, in the
 * order of their ids, as reservations do. Call it before another lock is taken. A transaction that changes a variant,
 * or whether it is visible, then locks the former and the new lead in this order.
 * @returns the locked groups
 */
export async function lockGroups(
  tx: Transaction,
  productIds: readonly string[],
  further: readonly (string | undefined)[] = [],
): Promise<readonly string[]> {
  const present = await groupsOf(tx, productIds);
  const groups = [...new Set([...present, ...further.flatMap((group) => group ?? [])])];
  if (groups.length === 0) return [];
  await sql(tx, 'SELECT lock_variant_groups($1)', [groups]);
  await sql(tx, lockMembers, [groups, productIds]);
  // A product may have got another group before its row was locked.
  if ((await groupsOf(tx, productIds)).some((group) => !groups.includes(group))) throw otherGroup();
  return groups;
}

/** Returns an error after which the transaction is repeated. */
function otherGroup(): Error {
  return Object.assign(new Error('a product got another group meanwhile'), { code: '40001' });
}

const lockMembers = `
  SELECT id FROM products WHERE id = ANY (
    ARRAY(SELECT id FROM products WHERE variant_group IS NOT NULL AND variant_group = ANY ($1::text[])) || $2::uuid[])
  ORDER BY id FOR UPDATE`;

async function groupsOf(tx: Transaction, productIds: readonly string[]): Promise<string[]> {
  if (productIds.length === 0) return [];
  const found = await sql<{ name: string }>(
    tx,
    'SELECT DISTINCT variant_group AS name FROM products WHERE id = ANY ($1::uuid[]) AND variant_group IS NOT NULL',
    [productIds],
  );
  return found.map(({ name }) => name);
}

/**
 * Rejects a group and options that another product has.
 * @param variant the JSON text of the column
 * @param locked the groups that `lockGroups` locked
 * @throws Problem 409 that names the other product
 */
export async function refuseUsedVariant(
  tx: Transaction,
  productId: string,
  variant: string | null,
  locked: readonly string[],
): Promise<void> {
  if (variant === null) return;
  if (!locked.includes(JSON.parse(variant).group)) throw otherGroup();
  const others = await sql<{ id: string }>(tx, findVariant, [variant, productId]);
  if (others.length === 0) return;
  const detail =
    'Another product of the group has these options. Nothing was changed. Change that product, or use other options.';
  const errors = others.map(({ id }) => {
    return { pointer: '/variant/options', detail: 'are the options of another product of the group', productId: id };
  });
  throw new Problem('variant-in-use', detail, { errors });
}

export const findVariant = "SELECT id FROM products WHERE variant_key = md5(($1::jsonb - 'lead')::text) AND id <> $2";

/**
 * @throws Problem `invalid-request` when a merge patch results in a variant without a group, or too few or many options
 */
export function refuseIncompleteVariant({ variant }: ProductInput): void {
  if (variant === undefined) return;
  const { group, options }: Partial<typeof variant> = variant;
  const count = Object.keys(options ?? {}).length;
  const faults: Fault[] = [];
  if (group === undefined) faults.push({ pointer: '/variant/group', detail: 'is required' });
  if (count === 0 || count > mostOptions) {
    const detail = `must have 1 to ${mostOptions} members; with this change the product would have ${count}`;
    faults.push({ pointer: '/variant/options', detail });
  }
  refuseFaults([], faults);
}
