// Returns the products that contain the terms of a search, the most relevant first.
//
// Products with all words in their name, brand and category precede those with some words only in their description.
// One statement ranks each of these two levels as a whole, unless the level is too large. Such a level is read in
// windows, which are random parts of all products, and ranked within each window.
//
// The level, the window, the rank in it and the id define a total order that does not depend on other products. So the
// next page begins where the last one ended, even when products are written in between.
import { type Condition, type Fragments, queryRows, type Row, tookTooLong } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { readSample } from './sample.ts';
import { inAll, inHead, inNames, inParts, largePart, parts, type Terms } from './terms.ts';

/** The maximum estimated number of matches of a level that is ranked as a whole. */
const rankedWhole = 4_000;
/**
 * The maximum estimated number of matches for which a window is one large part of all products. For more matches, a
 * window is a few small parts.
 */
const windowsOfLargeParts = 128_000;
/**
 * The estimated matches in a window of small parts, and the maximum number of parts in it, because each part makes the
 * scan of the index slower.
 */
const windowOfSmallParts = { matches: 1_000, parts: 8 };
/** Milliseconds within which the windows of one page are read. */
const windowsWithin = 5_000;
/**
 * The minimum estimated number of matches that meet the conditions, for which windows are better than one statement.
 */
const fewestForWindows = 2 * parts;

/** The position of a product in the order. */
export interface Standing {
  readonly level: number;
  /** Parts in a window; 0 when the level is ranked as a whole. */
  readonly width: number;
  readonly window: number;
  readonly rank: number;
  readonly id: string;
}

export interface RankedRows {
  readonly rows: Row[];
  /** The position of each row in the order. */
  readonly standings: Standing[];
}

export interface RankedRequest {
  readonly on: Queryable;
  readonly terms: Terms;
  readonly from: string;
  readonly conditions: readonly Condition[];
  readonly fragments: Fragments;
  readonly limit: number;
  readonly after: Standing | undefined;
}

type Source = 'words' | 'products';

/**
 * Returns at most one row more than the limit.
 * @throws Problem `query-too-costly` when a statement or all windows together take too long
 */
export async function readRanked(request: RankedRequest): Promise<RankedRows> {
  const { terms, limit, after, conditions } = request;
  const levels = [inHead(terms), `(${inAll(terms)}) & !(${inHead(terms)})`].map((text) => inNames(text, conditions));
  const rows: Row[] = [];
  const standings: Standing[] = [];
  const end = Date.now() + windowsWithin;
  for (const [level, match] of levels.entries()) {
    if (rows.length > limit || level < (after?.level ?? 0)) continue;
    const last = level === after?.level ? after : undefined;
    const { width, source } = await planOf(request, match, last?.width);
    const windows = width === 0 ? 1 : Math.ceil(parts / width);
    for (let window = last?.window ?? 0; window < windows && rows.length <= limit; window += 1) {
      if (Date.now() > end) throw tookTooLong();
      const read = await readWindow(request, {
        match: width === 0 ? match : inParts(match, window * width, width),
        source,
        last: window === last?.window ? last : undefined,
        limit: limit + 1 - rows.length,
      });
      for (const row of read) {
        rows.push(row);
        standings.push({ level, width, window, rank: Number(row.at(-2)), id: row.at(-1) ?? '' });
      }
    }
  }
  return { rows, standings };
}

/** @param width the width of the page before, because all pages of a level have the same one */
async function planOf(
  { on, from, fragments, limit }: RankedRequest,
  match: string,
  width: number | undefined,
): Promise<{ width: number; source: Source }> {
  if (width !== undefined && (width > 0 || fragments.where.length === 0)) return { width, source: 'words' };
  const { matched, filtered } = await readSample(on, match, from, fragments);
  const isWhole = matched <= rankedWhole;
  const meeting = filtered?.matched ?? matched;
  if (width === undefined && !isWhole && meeting >= fewestForWindows) {
    return { width: widthFor(matched, meeting, limit), source: 'words' };
  }
  return { width: 0, source: !isWhole && filtered && filtered.all < matched ? 'products' : 'words' };
}

/**
 * Returns the width of a window. Small windows are sufficient for many matches, unless so few of them meet the
 * conditions that a page needs several windows.
 * @param meeting the estimated number of matches that meet the conditions
 */
function widthFor(matched: number, meeting: number, limit: number): number {
  const wanted = Math.ceil((parts * limit) / meeting);
  if (matched <= windowsOfLargeParts || wanted > windowOfSmallParts.parts) return largePart;
  const usual = Math.round((parts * windowOfSmallParts.matches) / matched);
  return Math.min(Math.max(usual, wanted), windowOfSmallParts.parts);
}

interface Window {
  readonly match: string;
  /** Which products are read first: those that the words find, or those that meet the conditions. */
  readonly source: Source;
  readonly last: Standing | undefined;
  readonly limit: number;
}

function readWindow({ on, terms, from, fragments }: RankedRequest, window: Window): Promise<Row[]> {
  const { list, where, values } = fragments;
  const { last } = window;
  const parameters: unknown[] = [...values, window.match, inHead(terms)];
  const [match, name] = [`$${values.length + 1}::tsquery`, `$${values.length + 2}::tsquery`];
  const later: string[] = [];
  if (last !== undefined) {
    const [rank, id] = [`$${parameters.push(last.rank)}::integer`, `$${parameters.push(last.id)}::uuid`];
    later.push(`(rank > ${rank} OR (rank = ${rank} AND product_id < ${id}))`);
  }
  const all = (conditions: readonly string[]) => (conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '');
  const order = 'ORDER BY rank, product_id DESC';
  // Each product of one side is looked up on the other side, in order and only until the page is full where possible.
  const text =
    window.source === 'words'
      ? `SELECT product.*, rank, product_id
        FROM (SELECT * FROM search_matches(${match}, ${name}) ${all(later)} ${order}) AS hit
        CROSS JOIN LATERAL (SELECT ${list} FROM ${from} ${all(['id = product_id', ...where])} LIMIT 1) AS product`
      : `SELECT ${list}, rank, product_id FROM ${from} CROSS JOIN LATERAL (
          SELECT product_id, CASE WHEN name_lexemes @@ ${name} THEN 0 ELSE 1000 END + name_words AS rank
          FROM product_search WHERE product_id = id AND lexemes @@ ${match} LIMIT 1
        ) AS hit ${all([...where, ...later])}`;
  return queryRows(on, { text: `${text} ${order} LIMIT ${window.limit}`, values: parameters });
}
