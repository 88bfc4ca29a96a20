// The conditions that a product must meet to be found, and their text search queries in PostgreSQL.

import type { Condition } from '@shop/shared/collection';

/** Words as they are stored; all of them must be contained. */
export type Lexemes = readonly string[];
/** Alternatives for one word of a search; one of them must be contained. */
export type Term = readonly Lexemes[];
/** One for each word of a search. */
export type Terms = readonly Term[];

/**
 * Every product belongs to one of 1,024 random small parts, and so to one of 32 large parts. A lexeme identifies each
 * part.
 */
export const parts = 1024;
export const largePart = 32;

/** Returns a tsquery for words of the name, the brand or the category, or of the name only. */
export function inHead(terms: Terms): string {
  return query(terms, quoted);
}

/** Returns a tsquery for words of the name, brand, category or description. */
export function inAll(terms: Terms): string {
  return query(terms, (lexeme) => `(${quoted(lexeme)} | ${quoted(`~${lexeme}`)})`);
}

/**
 * The maximum length of a list of names that restricts a tsquery, because the time of an index scan grows with the
 * square of the length.
 */
const mostNames = 8;

/**
 * Restricts a tsquery to the brands and categories of the filters, so that other products are not read. The filters
 * still have to be checked.
 */
export function inNames(text: string, conditions: readonly Condition[]): string {
  const names = conditions.flatMap((condition) => {
    const mark = condition.field === 'brand' ? '@' : condition.field === 'category' ? '/' : undefined;
    const values =
      condition.operator === 'in' ? condition.values : condition.operator === 'eq' ? [condition.value] : [];
    if (mark === undefined || values.length === 0 || values.length > mostNames) return [];
    return [`(${values.map((value) => quoted(`${mark}${value}`)).join(' | ')})`];
  });
  return [`(${text})`, ...names].join(' & ');
}

/** Returns a tsquery for `width` parts of all products, beginning with `first`. A large part is one lexeme. */
export function onlyParts(first: number, width: number): string {
  if (width === largePart) return quoted(`%${first / largePart}`);
  const last = Math.min(first + width, parts);
  return Array.from({ length: last - first }, (_, index) => quoted(`#${first + index}`)).join(' | ');
}

/** Restricts a tsquery to these parts. */
export function inParts(text: string, first: number, width: number): string {
  return `(${text}) & (${onlyParts(first, width)})`;
}

function query(terms: Terms, write: (lexeme: string) => string): string {
  return terms.map((term) => `(${term.map((lexemes) => lexemes.map(write).join(' & ')).join(' | ')})`).join(' & ');
}

function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
