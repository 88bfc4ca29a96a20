// Converts a search string into the terms to search for: first exactly as written, and with corrections when nothing
// was found.
import type { Queryable } from '@shop/shared/database';
import { isCorrected, similarTo, splits, withDistances } from './corrections.ts';
import { readKnownWords, readWords, type Word, wordsInUse } from './search-words.ts';
import type { Term, Terms } from './terms.ts';

const alternativesOfWord = 6;
const alternativesOfSearch = 24;

/**
 * Yields the interpretations of a search string. Each one is used when the previous one found nothing:
 * 1. every word as written, without stop words if other words remain;
 * 2. unknown words also as similar words, as longer words that begin with them, and split; neighbouring words also
 * joined;
 * 3. the same without the words that resemble no known word, if others remain.
 * @param from the products that the caller sees: a table expression; only their words are known
 */
export async function* interpretations(on: Queryable, from: string, text: string): AsyncGenerator<Terms> {
  const all = await readWords(on, text);
  const withoutStopWords = all.filter(({ isStopWord }) => !isStopWord);
  const words = distinct(withoutStopWords.length > 0 ? withoutStopWords : all);
  if (words.length === 0) return;
  yield words.map(({ lexemes }) => [lexemes]);

  const present = new Set(await wordsInUse(on, from, words));
  const unknown = words.filter((each) => !present.has(each) && isCorrected(each.word)).map(({ word }) => word);
  const compounds = words.slice(1).map(({ word }, index) => `${words[index]?.word}${word}`);
  const recorded = await readKnownWords(on, unknown, [...compounds, ...unknown.flatMap((word) => splits(word).flat())]);
  const found = await wordsInUse(on, from, withDistances(words, recorded));
  const exact = new Map(found.flatMap(({ asked, word, lexemes }) => (asked === undefined ? [[word, lexemes]] : [])));
  let remaining = alternativesOfSearch;
  const terms = words.map((word, index): Term => {
    const joined = [compounds[index - 1], compounds[index]].flatMap((each) => {
      const lexemes = exact.get(each ?? '');
      return lexemes === undefined ? [] : [lexemes];
    });
    const similar = unknown.includes(word.word) ? similarTo(word.word, found, exact) : [];
    const others = [...joined, ...similar].slice(0, Math.min(alternativesOfWord, remaining));
    remaining -= others.length;
    return [word.lexemes, ...others];
  });
  if (terms.some((term) => term.length > 1)) yield terms;

  const kept = words.flatMap((word, index) => {
    const term = terms[index] ?? [];
    return term.length > 1 || present.has(word) ? [term] : [];
  });
  if (kept.length > 0 && kept.length < terms.length) yield kept;
}

function distinct(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.word, word])).values()];
}
