// Estimates how many products a search finds, to choose the statement. PostgreSQL's own estimates are often far off for
// several words together.
import { type Fragments, queryRows } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { inParts, onlyParts, parts } from './terms.ts';

export interface Sample {
  /** The estimated number of products that the words find. */
  readonly matched: number;
  /** The estimated number of products that meet the conditions and contain the words; undefined without conditions. */
  readonly filtered: { readonly all: number; readonly matched: number } | undefined;
}

const sampledParts = 2;
const scale = parts / sampledParts;
const sampled = onlyParts(0, sampledParts);

/** Counts in two of the 1,024 random parts of all products. */
export async function readSample(
  on: Queryable,
  match: string,
  from: string,
  { where, values }: Pick<Fragments, 'where' | 'values'>,
): Promise<Sample> {
  if (where.length === 0) {
    const text = 'SELECT count(*) FROM product_search WHERE lexemes @@ $1::tsquery';
    const [row = []] = await queryRows(on, { name: 'search sample', text, values: [inParts(match, 0, sampledParts)] });
    return { matched: Number(row[0]) * scale, filtered: undefined };
  }
  const [row = []] = await queryRows(on, {
    text: `SELECT count(*) FILTER (WHERE matches), count(*) FILTER (WHERE meets),
        count(*) FILTER (WHERE matches AND meets)
      FROM (
        SELECT lexemes @@ $${values.length + 1}::tsquery AS matches,
          EXISTS (SELECT FROM ${from} WHERE id = product_id AND ${where.join(' AND ')}) AS meets
        FROM product_search WHERE lexemes @@ $${values.length + 2}::tsquery
      ) AS counted`,
    values: [...values, match, sampled],
  });
  const [matched = 0, met = 0, both = 0] = row.map(Number);
  return { matched: matched * scale, filtered: { all: met * scale, matched: both * scale } };
}
