// Reads one page: converts criteria to SQL, rows to JSON text, and the last row to a cursor. No other module of
// collections accesses the database.
import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import { Problem } from '../../problem/index.ts';
import { matchesNothing, withoutContradictions } from '../grammar/contradiction.ts';
import type { Criteria, PageBounds, Position } from '../grammar/criteria.ts';
import { type CollectionSpec, membersOf } from '../grammar/spec.ts';
import type { Scope } from './bind-parameters.ts';
import type { Cursors } from './cursor.ts';
import { PreparedStatements } from './prepared.ts';
import { type RowWriter, rowWriter } from './row-writer.ts';

export interface Collection<Context> {
  readonly spec: CollectionSpec<Context>;
  readonly cursors: Cursors;
  readonly prepared: PreparedStatements;
  readonly writers: Map<string, RowWriter<Context>>;
}

/** Opens a collection: its table, its cursors, and its compiled statements. */
export function openCollection<Context>(spec: CollectionSpec<Context>, cursors: Cursors): Collection<Context> {
  return { spec, cursors, prepared: new PreparedStatements(spec), writers: new Map() };
}

export interface PageRequest<Context> {
  readonly collection: Collection<Context>;
  readonly criteria: Criteria;
  /** A pool, or one of its connections. */
  readonly pool: Pick<Pool, 'query'>;
  /**
   * A value for each scope column of the spec. Every branch of the statement and every cursor includes it, so that no
   * filter, alternative, cursor or projection can reach a row outside the scope.
   */
  readonly scope?: Scope;
  /** The context for the functions that write fields. */
  readonly context: Context;
  /** The path and query of a GET. If it is given, the response links to its next page. */
  readonly url?: string;
  /** Members of the envelope besides `items` and `pagination`, as JSON text. */
  readonly more?: Readonly<Record<string, string>>;
}

export interface Page {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  /** The envelope: `items` and `pagination`. */
  readonly json: string;
  /** The strong entity tag: a digest of `json`. */
  readonly etag: string;
}

/** A page, and the part of the sort order that it shows; undefined when no row can ever be on it. */
export interface BoundedPage {
  readonly page: Page;
  readonly bounds: PageBounds | undefined;
}

const asText = { getTypeParser: () => (text: string) => text };
const queryCanceled = '57014';

/**
 * Reads one page of a collection as the result of an operation. Criteria that exclude every row need no query.
 * @throws Problem `invalid-cursor`; `query-too-costly` when the statement times out
 */
export async function readPage<Context>(request: PageRequest<Context>): Promise<Page> {
  return (await readBoundedPage(request)).page;
}

/** Reads a page as `readPage` does, and returns what a cache needs to compare changed rows with the page. */
export async function readBoundedPage<Context>(request: PageRequest<Context>): Promise<BoundedPage> {
  const { collection, criteria, more } = request;
  const { spec } = collection;
  const scope = checkedScope(spec, request.scope ?? {});
  const place = openPlace(request, toBinding(spec, criteria, scope));
  if (matchesNothing(spec, criteria)) return { page: place.write(new Map(), [], () => [], more), bounds: undefined };
  const { position } = place;
  const input = { criteria: withoutContradictions(spec, criteria), position, scope };
  const { statement, name } = collection.prepared.get(input);
  const rows = await queryRows(request.pool, { name, text: statement.text, values: statement.values(input) });
  const at = (field: string) => statement.columns.get(spec.fields[field]?.column ?? '') ?? -1;
  const sorted = criteria.sort.map(({ field }) => at(field));
  const positionOf = (row: Row) => sorted.map((index) => row[index] ?? null);
  const hasMore = rows.length > criteria.limit;
  const last = hasMore ? rows[criteria.limit - 1] : undefined;
  const nextRowId = hasMore ? (rows.at(-1)?.[at('id')] ?? undefined) : undefined;
  return {
    page: place.write(statement.columns, rows, positionOf, more),
    bounds: { after: position, until: last && positionOf(last), nextRowId },
  };
}

export type Row = readonly (string | null)[];

/** The position of a request in its collection, and the function that writes its page. */
export interface Place {
  /** The content of the request's cursor; undefined for the first page. */
  readonly position: Position | undefined;
  /**
   * Writes the page.
   * @param rows at most one more than the limit; the additional row shows that there is a next page
   * @param positionOf returns the position for the cursor of the next page
   * @param more members of the envelope besides `items` and `pagination`, as JSON text
   */
  write(
    columns: ReadonlyMap<string, number>,
    rows: readonly Row[],
    positionOf: (row: Row, index: number) => Position,
    more?: Readonly<Record<string, string>>,
  ): Page;
}

/**
 * Decrypts the cursor of a request, and writes its page. For operations that read rows in an order of their own.
 * @param binding everything that must be equal on each page
 * @throws Problem `invalid-cursor`
 */
export function openPlace<Context>(
  request: Pick<PageRequest<Context>, 'collection' | 'criteria' | 'context' | 'url'>,
  binding: string,
): Place {
  const { collection, criteria, url, context } = request;
  const { cursors } = collection;
  const at = url === undefined ? { pointer: '/pagination/cursor' } : { parameter: 'cursor' };
  const position = criteria.cursor === undefined ? undefined : cursors.open(criteria.cursor, binding, at);
  return {
    position,
    write(columns, rows, positionOf, more = {}) {
      const hasMore = rows.length > criteria.limit;
      const shown = hasMore ? criteria.limit : rows.length;
      let items = '';
      if (shown > 0) {
        const write = writerFor(collection, criteria, columns);
        for (let index = 0; index < shown; index += 1) {
          if (index > 0) items += ',';
          items += write(rows[index] ?? [], context);
        }
      }
      const others = Object.entries(more)
        .map(([name, json]) => `${JSON.stringify(name)}:${json},`)
        .join('');
      const start = `{"items":[${items}],${others}"pagination":{"limit":${criteria.limit},`;
      const last = hasMore ? rows[shown - 1] : undefined;
      if (last === undefined) return pageOf(`${start}"hasMore":false}}`);
      const nextCursor = cursors.seal(positionOf(last, shown - 1), binding);
      return pageOf(
        `${start}"nextCursor":"${nextCursor}","hasMore":true}}`,
        url === undefined ? {} : { Link: `<${nextUrl(url, nextCursor)}>; rel="next"` },
      );
    },
  };
}

function pageOf(json: string, headers: Readonly<Record<string, string>> = {}): Page {
  return { status: 200, headers, json, etag: `"${hash('sha256', json, 'base64url')}"` };
}

/**
 * Checks that each column of the scope has a value. A missing value would return rows of other accounts, so it is a
 * bug.
 */
function checkedScope(spec: CollectionSpec<never>, scope: Scope): Scope {
  const needed = Object.keys(spec.scope ?? {});
  if (needed.length !== Object.keys(scope).length || needed.some((name) => typeof scope[name] !== 'string')) {
    throw new TypeError(`reading ${spec.name} takes a value for each of: ${needed.join(', ')}`);
  }
  return scope;
}

/** Returns the binding of a cursor. `limit` and `fields` are not a part of it, so they may differ from page to page. */
export function toBinding(spec: CollectionSpec<never>, { conditions, or, sort }: Criteria, scope: Scope): string {
  return JSON.stringify([spec.name, Object.entries(scope).sort(), conditions, or, sort]);
}

/**
 * Returns the rows of a statement as PostgreSQL prints them.
 * @throws Problem `query-too-costly` when the statement times out
 */
export async function queryRows(
  pool: Pick<Pool, 'query'>,
  { name, text, values }: { name?: string | undefined; text: string; values: unknown[] },
): Promise<Row[]> {
  try {
    const config = { text, values, rowMode: 'array' as const, types: asText };
    const result = await pool.query<(string | null)[]>(name === undefined ? config : { ...config, name });
    return result.rows;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === queryCanceled) {
      throw tookTooLong(error);
    }
    throw error;
  }
}

/** Returns the problem of a query that timed out: `query-too-costly`. */
export function tookTooLong(cause?: unknown): Problem {
  const detail = 'The query took too long. Ask for less: fewer alternatives, or a filter that keeps fewer rows.';
  return new Problem('query-too-costly', detail, { cause });
}

function writerFor<Context>(
  { spec, writers }: Collection<Context>,
  { fields, sort }: Criteria,
  columns: ReadonlyMap<string, number>,
): RowWriter<Context> {
  const key = fields ? `${fields.join()}|${sort.map(({ field }) => field).join()}` : '';
  const known = writers.get(key);
  if (known) return known;
  if (writers.size >= 200) writers.clear();
  const writer = rowWriter(spec, fields ?? membersOf(spec), columns);
  writers.set(key, writer);
  return writer;
}

/** Returns the URL of the same request with another cursor, relative to the requested server. */
function nextUrl(url: string, cursor: string): string {
  const start = url.indexOf('?');
  if (start < 0) return `${url}?cursor=${cursor}`;
  const kept = url
    .slice(start + 1)
    .split('&')
    .filter((part) => part !== '' && parameterName(part) !== 'cursor')
    .map((part) => part.replaceAll('<', '%3C').replaceAll('>', '%3E'));
  return `${url.slice(0, start)}?${[...kept, `cursor=${cursor}`].join('&')}`;
}

function parameterName(part: string): string {
  const equals = part.indexOf('=');
  const name = equals < 0 ? part : part.slice(0, equals);
  return name.includes('%') ? decodeURIComponent(name) : name;
}
