// Facets: how many products of a result have each brand, each category, and a price in each range.
import { type CollectionSpec, type Criteria, matchesNothing, queryRows, toFragments } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { type Fault, Problem } from '@shop/shared/problem';
import { readSample } from './sample.ts';
import { inAll, inNames, type Terms } from './terms.ts';
import { writeCount } from './written-count.ts';

export const facetNames = ['brand', 'category', 'price'] as const;
export type FacetName = (typeof facetNames)[number];

/**
 * The maximum number of products of a result that is counted. The products that words find are looked up one by one.
 */
const largestResult = { ofList: 10_000, ofSearch: 5_000 };
/**
 * The maximum estimated number of products that the words may find before the other filters, because all of them are
 * read.
 */
const mostMatches = 50_000;
const valuesOfFacet = 100;

/** The lower bounds of the price ranges, in major units of a currency with decimals. */
const bounds = [5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

export interface Facets {
  readonly names: readonly FacetName[];
  readonly faults: readonly Fault[];
}

/**
 * @param written the value in the request, which should be a list of names
 * @param locate returns the location of the list or of one of its names in the request
 */
export function readFacets(
  written: unknown,
  locate: (index?: number) => { parameter: string } | { pointer: string },
): Facets {
  if (written === undefined) return { names: [], faults: [] };
  const list: readonly unknown[] = Array.isArray(written) ? written : [];
  const names = facetNames.filter((name) => list.includes(name));
  if (list.length > 0 && names.length === list.length) return { names, faults: [] };
  const wrong = list.findIndex(
    (name, index) => !facetNames.some((known) => known === name) || list.indexOf(name) < index,
  );
  const detail = `must list some of ${facetNames.join(', ')}, none twice`;
  return { names: [], faults: [{ ...locate(wrong < 0 ? undefined : wrong), detail, accepted: facetNames }] };
}

export interface FacetRequest {
  readonly on: Queryable;
  readonly spec: CollectionSpec<unknown>;
  readonly criteria: Criteria;
  /** The terms of a search. An empty list finds nothing. */
  readonly terms?: Terms | undefined;
  readonly names: readonly FacetName[];
  readonly decimals: number;
  /** The request without facets. It is proposed when the result is too large. */
  readonly nearest: unknown;
}

/**
 * Returns the member `facets` of the envelope as JSON text.
 * @throws Problem `query-too-costly` when the result has too many products to count, or the words find too many
 */
export async function countFacets({
  on,
  spec,
  criteria,
  terms,
  names,
  decimals,
  nearest,
}: FacetRequest): Promise<string> {
  if (terms?.length === 0 || matchesNothing(spec, criteria)) {
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, []])));
  }
  const { where, values } = toFragments(spec, { criteria, position: undefined, scope: {} });
  const parameters: unknown[] = [...values];
  const match = terms === undefined ? undefined : inNames(inAll(terms), criteria.conditions);
  const largest = match === undefined ? largestResult.ofList : largestResult.ofSearch;
  if (match !== undefined) {
    // The matches are estimated first, so that they are not read when they are far too many.
    const { matched, filtered } = await readSample(on, match, spec.from, { where, values });
    if ((filtered?.matched ?? matched) > 2 * largest) throw tooLarge(largest, nearest);
    if (matched > mostMatches) throw tooManyMatches(matched, nearest);
  }
  const source =
    match === undefined
      ? `${spec.from} ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}`
      : `search_matches($${parameters.push(match)}::tsquery, '') AS hit CROSS JOIN LATERAL (
          SELECT brand, category, price_minor FROM ${spec.from}
          WHERE ${['id = product_id', ...where].join(' AND ')} LIMIT 1
        ) AS product`;
  // For a currency without decimals, the bounds are multiplied by a hundred, because its amounts are that much larger.
  const units = bounds.map((bound) => bound * 10 ** Math.max(decimals, 2));
  const grouped = (name: FacetName): string =>
    name === 'price' ? `width_bucket(price_minor, $${parameters.push(units)}::bigint[])::text` : name;
  const counts = names.map(
    (name) => `(SELECT '${name}', ${grouped(name)} AS value, count(*) AS products FROM result
      GROUP BY value ORDER BY ${name === 'price' ? 'min(price_minor)' : 'products DESC, value'}
      LIMIT ${valuesOfFacet})`,
  );
  const text = `
    WITH result AS MATERIALIZED (
      SELECT brand, category, price_minor FROM ${source} LIMIT ${largest + 1}
    )
    SELECT 'all', '', count(*) FROM result UNION ALL ${counts.join(' UNION ALL ')}`;
  const [[, , all = null] = [], ...rows] = await queryRows(on, { text, values: parameters });
  if (Number(all) > largest) throw tooLarge(largest, nearest);
  const members = names.map((name) => {
    const own = rows.filter(([facet]) => facet === name);
    const items = own.map(([, value, count]) =>
      name === 'price'
        ? `{${writeRange(Number(value), units, decimals)},"count":${writeCount(count ?? '0')}}`
        : `{"value":${JSON.stringify(value)},"count":${writeCount(count ?? '0')}}`,
    );
    return `"${name}":[${items.join()}]`;
  });
  return `{${members.join()}}`;
}

/** Writes a range. It includes `from` and excludes `to`. */
function writeRange(bucket: number, units: readonly number[], decimals: number): string {
  const [from = 0, to] = [units[bucket - 1], units[bucket]];
  return [`"from":${from / 10 ** decimals}`, ...(to === undefined ? [] : [`"to":${to / 10 ** decimals}`])].join();
}

function tooLarge(largest: number, nearest: unknown): Problem {
  const detail =
    `Facets are counted for results of at most ${largest} products. ` + 'Add a filter or words, or leave facets out.';
  return tooCostly(detail, { maximum: largest, actual: largest + 1 }, nearest);
}

function tooManyMatches(matched: number, nearest: unknown): Problem {
  const detail =
    `Facets are counted for words that about ${mostMatches} products have, or fewer. ` +
    'Add words, a brand or a category, or leave facets out.';
  return tooCostly(detail, { maximum: mostMatches, actual: matched }, nearest);
}

function tooCostly(detail: string, figures: { maximum: number; actual: number }, nearest: unknown): Problem {
  return new Problem('query-too-costly', detail, {
    extensions: { exceeded: [{ bound: 'facets', ...figures }], nearest },
  });
}
