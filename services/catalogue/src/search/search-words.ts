// The words of a search, as PostgreSQL splits and stems them, and the known words that resemble them.
import { queryRows } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { inHead, type Lexemes } from './terms.ts';

export interface Word {
  readonly word: string;
  readonly lexemes: Lexemes;
  /** A word like `with`, which says nothing about a product. */
  readonly isStopWord: boolean;
}

export interface KnownWord {
  /** The word of the search that resembles it; undefined when the word was asked for as it is. */
  readonly asked: string | undefined;
  readonly word: string;
  readonly lexemes: Lexemes;
}

const lexemesOf = (word: string) => `array_to_json(tsvector_to_array(to_tsvector('search', ${word})))`;

// The parser's 12 is a blank.
const wordsOfText = `
  SELECT token, ${lexemesOf('token')}, to_tsvector('search_stops', token) = ''
  FROM ts_parse('default', search_text($1, false)) WITH ORDINALITY AS asked (kind, token, place)
  WHERE kind <> 12 ORDER BY place`;

/** The words of a text in their order. */
export async function readWords(on: Queryable, text: string): Promise<Word[]> {
  const rows = await queryRows(on, { name: 'search words', text: wordsOfText, values: [text] });
  return rows.map(([word, lexemes, isStopWord]) => {
    return {
      word: word ?? '',
      lexemes: JSON.parse(lexemes ?? '[]') as Lexemes,
      isStopWord: isStopWord === 't',
    };
  });
}

// Words with a key in common are many more than words with an error between them, so that the latter are chosen from a
// bounded number of the former.
const knownWords = `
  SELECT asked, word, ${lexemesOf('word')}
  FROM (
    SELECT asked, near.word FROM unnest($1::text[]) AS asked CROSS JOIN LATERAL (
      (SELECT word FROM search_words WHERE keys && search_keys(asked) LIMIT 500)
      UNION
      (SELECT word FROM search_words WHERE word >= asked AND word < asked || chr(65535) ORDER BY word LIMIT 20)
    ) AS near
    UNION ALL
    SELECT NULL, word FROM search_words WHERE word = ANY ($2::text[])
  ) AS found`;

/**
 * @param misspelled words for which similar words, and words that begin with them, are returned
 * @param exact words that are returned if they are known
 * @returns also words that no product has any more, or only hidden products
 */
export async function readKnownWords(
  on: Queryable,
  misspelled: readonly string[],
  exact: readonly string[],
): Promise<KnownWord[]> {
  const values = [misspelled, exact];
  const rows = await queryRows(on, { name: 'known search words', text: knownWords, values });
  return rows.map(([asked, word, lexemes]) => {
    return { asked: asked ?? undefined, word: word ?? '', lexemes: JSON.parse(lexemes ?? '[]') as Lexemes };
  });
}

/**
 * Those of the words that a product has in its name, its brand or its category, in whatever form.
 * @param from the products that the caller sees: a table expression
 */
export async function keepPresent<W extends { readonly lexemes: Lexemes }>(
  on: Queryable,
  from: string,
  words: readonly W[],
): Promise<W[]> {
  if (words.length === 0) return [];
  // A frequent word is found in one small part of all products.
  const has = (match: string) =>
    `EXISTS (SELECT FROM search_some_matches(${match}) AS hit WHERE EXISTS (SELECT FROM ${from} WHERE id = hit))`;
  const text = `
    SELECT asked FROM unnest($1::text[]) AS asked
    WHERE ${has("asked::tsquery && '''#0'''")} OR ${has('asked::tsquery')}`;
  const queryOf = ({ lexemes }: W) => inHead([[lexemes]]);
  const rows = await queryRows(on, { text, values: [words.map(queryOf)] });
  const present = new Set(rows.map(([asked]) => asked));
  return words.filter((word) => present.has(queryOf(word)));
}
