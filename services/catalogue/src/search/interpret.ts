// A searched text → the terms to search for: as written first, and forgiving when nothing has been found.
import type { Queryable } from '@shop/shared/database';
import { editDistance } from './edit-distance.ts';
import { type KnownWord, readKnownWords, readWords, type Word } from './search-words.ts';
import type { Lexemes, Term, Terms } from './terms.ts';

/** Letters of the shortest word that is corrected, and of the shortest one in which two errors are forgiven. */
const corrected = { withOneError: 4, withTwoErrors: 8 };
const shortestPart = 3;
const alternativesOfWord = 6;
const alternativesOfSearch = 24;

/**
 * The interpretations of a text, the next one for when nothing was found with the one before:
 * 1. every word as it is written, without stop words if others remain;
 * 2. words that no name, brand or category contains also as similar words, as longer words that begin with them, and
 *    split; neighbouring words also joined;
 * 3. the same without the words that resemble no known word, if others remain.
 */
export async function* interpretations(on: Queryable, text: string): AsyncGenerator<Terms> {
  const all = (await readWords(on, text)).filter(({ lexemes }) => lexemes.length > 0);
  const telling = all.filter(({ isStopWord }) => !isStopWord);
  const words = distinct(telling.length > 0 ? telling : all);
  if (words.length === 0) return;
  yield words.map(({ lexemes }) => [lexemes]);

  const unknown = words.filter(({ word, isKnown }) => !isKnown && isCorrected(word)).map(({ word }) => word);
  const compounds = words.slice(1).map(({ word }, index) => `${words[index]?.word}${word}`);
  const found = await readKnownWords(on, unknown, [...compounds, ...unknown.flatMap((word) => splits(word).flat())]);
  const exact = new Map(found.flatMap(({ asked, word, lexemes }) => (asked === undefined ? [[word, lexemes]] : [])));
  let room = alternativesOfSearch;
  const terms = words.map((word, index): Term => {
    const joined = [compounds[index - 1], compounds[index]].flatMap((each) => {
      const lexemes = exact.get(each ?? '');
      return lexemes === undefined ? [] : [lexemes];
    });
    const similar = unknown.includes(word.word) ? similarTo(word, found, exact) : [];
    const others = [...joined, ...similar].slice(0, Math.min(alternativesOfWord, room));
    room -= others.length;
    return [word.lexemes, ...others];
  });
  if (terms.some((term) => term.length > 1)) yield terms;

  const kept = terms.filter((term, index) => term.length > 1 || words[index]?.isKnown);
  if (kept.length > 0 && kept.length < terms.length) yield kept;
}

function distinct(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.word, word])).values()];
}

const lettersOnly = /^\p{L}+$/u;

function isCorrected(word: string): boolean {
  return word.length >= corrected.withOneError && lettersOnly.test(word);
}

/**
 * The nearest known words, or else known words that begin with the word; and the word in two known parts. Of two distances,
 * with the ending and without it, the smaller one counts, so that an ending is no error.
 */
function similarTo(
  { word, lexemes }: Word,
  found: readonly KnownWord[],
  exact: ReadonlyMap<string, Lexemes>,
): Lexemes[] {
  const errors = word.length >= corrected.withTwoErrors ? 2 : 1;
  const [stem = word] = lexemes;
  const own = found
    .filter(({ asked }) => asked === word)
    .map((known) => {
      const [knownStem = known.word] = known.lexemes;
      const distance = Math.min(editDistance(word, known.word), editDistance(stem, knownStem));
      return { ...known, distance, isLonger: known.word.startsWith(word) };
    });
  const least = Math.min(...own.map(({ distance }) => distance));
  const near = least <= errors ? own.filter(({ distance }) => distance === least) : [];
  const chosen =
    near.length > 0 ? near : own.filter(({ isLonger }) => isLonger).sort((a, b) => a.distance - b.distance);
  const parts = splits(word).flatMap(([left, right]): Lexemes[] => {
    const lexemes = [exact.get(left), exact.get(right)];
    return lexemes.every((each) => each !== undefined) ? [lexemes.flat()] : [];
  });
  const unique = new Map([...chosen.map(({ lexemes }) => lexemes), ...parts].map((each) => [each.join(' '), each]));
  return [...unique.values()];
}

function splits(word: string): [string, string][] {
  const count = Math.max(word.length - 2 * shortestPart + 1, 0);
  return Array.from({ length: count }, (_, index) => {
    return [word.slice(0, index + shortestPart), word.slice(index + shortestPart)];
  });
}
