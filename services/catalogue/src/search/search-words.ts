// The words of a search, as PostgreSQL folds and stems them, and the known words that resemble them.
import { queryRows } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { inHead, type Lexemes } from './terms.ts';

export interface Word {
  readonly word: string;
  readonly lexemes: Lexemes;
  /** Whether the word is one like `with`, which does not describe a product. */
  readonly isStopWord: boolean;
}

export interface KnownWord {
  /** The searched word that resembles this one; undefined when this word itself was searched for. */
  readonly asked: string | undefined;
  readonly word: string;
  readonly lexemes: Lexemes;
}

const wordsOfText = `
  SELECT token, search_lexeme(token), ts_lexize('search_stop_words', token) = '{}'
  FROM string_to_table(search_text($1, false), ' ') WITH ORDINALITY AS asked (token, place)
  WHERE token <> '' ORDER BY place`;

/** Returns the words of a string in their order. */
export async function readWords(on: Queryable, text: string): Promise<Word[]> {
  const rows = await queryRows(on, { name: 'search words', text: wordsOfText, values: [text] });
  return rows.map(([word, lexeme, isStopWord]) => {
    return { word: word ?? '', lexemes: [lexeme ?? ''], isStopWord: isStopWord === 't' };
  });
}

// The index finds words with a common key. Far more words have a common key than differ by one error, so only a bounded
// number of them is compared.
const knownWords = `
  SELECT asked, word, search_lexeme(word)
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
 * @returns known words, which may include words that only hidden products or no products have any more
 */
export async function readKnownWords(
  on: Queryable,
  misspelled: readonly string[],
  exact: readonly string[],
): Promise<KnownWord[]> {
  const values = [misspelled, exact];
  const rows = await queryRows(on, { name: 'known search words', text: knownWords, values });
  return rows.map(([asked, word, lexeme]) => {
    return { asked: asked ?? undefined, word: word ?? '', lexemes: [lexeme ?? ''] };
  });
}

/**
 * Returns the words that a product has in its name, brand or category, in any inflected form.
 * @param from the products that the caller sees: a table expression
 */
export async function wordsInUse<W extends { readonly lexemes: Lexemes }>(
  on: Queryable,
  from: string,
  words: readonly W[],
): Promise<W[]> {
  if (words.length === 0) return [];
  // A frequent word is found in a single small part of all products.
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
