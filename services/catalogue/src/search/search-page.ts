// Reads a page of the products that a search string finds, by relevance or in the order that the client requests.
import {
  type Collection,
  type CollectionSpec,
  type Criteria,
  compile,
  type Input,
  matchesNothing,
  openPlace,
  type Page,
  type Position,
  queryRows,
  type Row,
  toBinding,
  toFragments,
} from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { interpretations } from './interpret.ts';
import { readRanked, type Standing } from './ranked-rows.ts';
import { readSample } from './sample.ts';
import { inAll, inNames, type Terms } from './terms.ts';

export interface SearchRequest {
  readonly collection: Collection<unknown>;
  readonly criteria: Criteria;
  readonly on: Queryable;
  readonly text: string;
  /** Whether the client requests a sort order, which replaces the relevance. */
  readonly isSorted: boolean;
  readonly url?: string;
  /** Members of the envelope besides the page, for the terms of the page. */
  readonly more?: (terms: Terms) => Promise<Readonly<Record<string, string>>>;
}

interface Found {
  readonly columns: ReadonlyMap<string, number>;
  readonly rows: readonly Row[];
  readonly positionOf: (row: Row, index: number) => Position;
}

/**
 * Reads a page. The cursor contains the terms, so that all pages of a search have the same ones even when the known
 * words change.
 * @throws Problem `invalid-cursor`; `query-too-costly` when the statement times out
 */
export async function readSearchPage(request: SearchRequest): Promise<Page> {
  const { collection, criteria, on, text, isSorted, more } = request;
  const order = isSorted ? 'sorted' : 'relevance';
  const place = openPlace({ ...request, context: undefined }, toBinding(collection.spec, criteria, { text, order }));
  const [kept, ...position] = place.position ?? [];
  const attempts = matchesNothing(collection.spec, criteria)
    ? []
    : typeof kept === 'string'
      ? [JSON.parse(kept) as Terms]
      : interpretations(on, collection.spec.from, text);
  const read = isSorted ? readSorted : readByRelevance;
  let terms: Terms = [];
  let found: Found = { columns: new Map(), rows: [], positionOf: () => [] };
  let others: Readonly<Record<string, string>> | undefined;
  for await (const attempt of attempts) {
    terms = attempt;
    // The other members are computed first, because the page is not read when they are rejected.
    others = await more?.(terms);
    found = await read(request, terms, typeof kept === 'string' ? position : undefined);
    if (found.rows.length > 0) break;
  }
  const { columns, rows, positionOf } = found;
  others ??= await more?.(terms);
  return place.write(columns, rows, (row, index) => [JSON.stringify(terms), ...positionOf(row, index)], others);
}

async function readByRelevance(
  { collection: { spec }, criteria, on }: SearchRequest,
  terms: Terms,
  position: Position | undefined,
): Promise<Found> {
  const fragments = toFragments(spec, { criteria, position: undefined, scope: {} });
  const after = position && toStanding(position);
  const { limit, conditions } = criteria;
  const { rows, standings } = await readRanked({ on, terms, from: spec.from, fragments, conditions, limit, after });
  return { columns: fragments.columns, rows, positionOf: (_, index) => toPosition(standings[index]) };
}

function toPosition(standing: Standing | undefined): Position {
  if (standing === undefined) throw new RangeError('a row has a standing');
  const { level, width, window, rank, id } = standing;
  return [String(level), String(width), String(window), String(rank), id];
}

function toStanding([level, width, window, rank, id]: Position): Standing {
  return {
    level: Number(level),
    width: Number(width),
    window: Number(window),
    rank: Number(rank),
    id: id ?? '',
  };
}

/**
 * The maximum estimated number of matches that are all read and then sorted, without trying the index of the sort
 * order.
 */
const sortedWhole = 30_000;
/** The maximum estimated number of matches that are all read and then sorted when the index finds too few of them. */
const mostSorted = 200_000;
/** The number of products that are read along the index before all matches are read. */
const readAlongIndex = 20_000;
/** The minimum estimated number of matches that meet the conditions, for which the index is tried. */
const fewestAlongIndex = 2_048;
/** A product that meets the conditions costs as much as so many matches: its words are read and compared. */
const lookUpFactor = 4;

async function readSorted(
  { collection: { spec }, criteria, on }: SearchRequest,
  terms: Terms,
  position: Position | undefined,
): Promise<Found> {
  const match = inNames(inAll(terms), criteria.conditions);
  const { where, values, columns } = toFragments(spec, { criteria, position: undefined, scope: {} });
  const { matched, filtered } = await readSample(on, match, spec.from, { where, values });
  const input = { criteria, position, scope: { search: match } };
  const isWhole = matched <= sortedWhole;
  const isFew = matched <= mostSorted && filtered !== undefined && filtered.matched < fewestAlongIndex;
  // The products that meet the conditions are so few that each is better looked up among the matches.
  const isRare = !isWhole && filtered !== undefined && filtered.all * lookUpFactor < matched;
  // The index finds few matches when the first products of the order do not contain the words.
  let rows = isWhole || isFew ? [] : await queryRows(on, firstMatches(spec, input));
  if (rows.length <= criteria.limit) {
    const readsMatches = matched <= mostSorted && !isRare;
    rows = await queryRows(on, readsMatches ? allMatches(spec, input) : alongIndex(spec, input));
  }
  const sorted = criteria.sort.map(({ field }) => columns.get(spec.fields[field]?.column ?? '') ?? -1);
  return { columns, rows, positionOf: (row) => sorted.map((index) => row[index] ?? null) };
}

interface SortedStatement {
  readonly text: string;
  readonly values: unknown[];
}

/** Returns the matches among the first products of the order. */
function firstMatches(spec: CollectionSpec<unknown>, { criteria, position, scope }: SortedInput): SortedStatement {
  const input = { criteria: { ...criteria, limit: readAlongIndex - 1 }, position, scope: {} };
  const { columns, text, values } = compile(spec, input);
  const parameters = values(input);
  const matches = hasWords(`c${columns.get('id')}`, `$${parameters.push(scope.search)}`);
  return { text: `SELECT * FROM (${text}) AS first WHERE ${matches} LIMIT ${criteria.limit + 1}`, values: parameters };
}

// LIMIT prevents PostgreSQL from joining the tables, so that the order of an index decides what is read.
function hasWords(id: string, match: string): string {
  return `EXISTS (SELECT FROM product_search WHERE product_id = ${id} AND lexemes @@ ${match}::tsquery LIMIT 1)`;
}

function allMatches(spec: CollectionSpec<unknown>, { criteria, position, scope }: SortedInput): SortedStatement {
  const { list, where, order, values } = toFragments(spec, { criteria, position, scope: {} });
  const match = `$${values.length + 1}::tsquery`;
  const text = `
    SELECT product.* FROM search_matches(${match}, ${match}) AS hit
    CROSS JOIN LATERAL (
      SELECT ${list} FROM ${spec.from} WHERE ${['id = product_id', ...where].join(' AND ')} LIMIT 1
    ) AS product
    ORDER BY ${order} LIMIT ${criteria.limit + 1}`;
  return { text, values: [...values, scope.search] };
}

interface SortedInput extends Input {
  readonly scope: { readonly search: string };
}

function alongIndex(spec: CollectionSpec<unknown>, input: SortedInput): SortedStatement {
  const condition = (parameter: string) => hasWords('id', parameter);
  const restricted = { ...spec, scope: { ...spec.scope, search: { condition, cast: 'text' } } } as const;
  const { text, values } = compile(restricted, input);
  return { text, values: values(input) };
}
