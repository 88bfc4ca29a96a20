// The words of a search, as PostgreSQL splits and stems them, and the known words that resemble them.
import { queryRows } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import type { Lexemes } from './terms.ts';

export interface Word {
  readonly word: string;
  readonly lexemes: Lexemes;
  /** A word like `with`, which says nothing about a product. */
  readonly isStopWord: boolean;
  /** Whether a name, brand or category contains it. */
  readonly isKnown: boolean;
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
  SELECT token, ${lexemesOf('token')}, to_tsvector('pg_catalog.english', token) = '',
    EXISTS (SELECT FROM search_words WHERE word = token)
  FROM ts_parse('default', search_text($1, false)) WITH ORDINALITY AS asked (kind, token, place)
  WHERE kind <> 12 ORDER BY place`;

/** The words of a text in their order. */
export async function readWords(on: Queryable, text: string): Promise<Word[]> {
  const rows = await queryRows(on, { name: 'search words', text: wordsOfText, values: [text] });
  return rows.map(([word, lexemes, isStopWord, isKnown]) => {
    return {
      word: word ?? '',
      lexemes: JSON.parse(lexemes ?? '[]') as Lexemes,
      isStopWord: isStopWord === 't',
      isKnown: isKnown === 't',
    };
  });
}

// Words with a key in common are many more than words with an error between them, so that the latter are chosen from a bounded
// number of the former.
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
