// Turns a searched text into the terms to search for: first exactly as written, and with corrections when nothing was
// found.
import type { Queryable } from '@shop/shared/database';
import { editDistance } from './edit-distance.ts';
import { type KnownWord, readKnownWords, readWords, type Word, wordsInUse } from './search-words.ts';
import type { Lexemes, Term, Terms } from './terms.ts';

/** The minimum lengths of a word that is corrected, and of a word with two tolerated errors. */
const corrected = { withOneError: 4, withTwoErrors: 8 };
const shortestPart = 3;
const alternativesOfWord = 6;
const alternativesOfSearch = 24;

/**
 * The interpretations of a text. Each one is used when the one before found nothing:
 * 1. every word as written, without stop words if other words remain;
 * 2. words that no name, brand or category contains also as similar words, as longer words that begin with them, and
 *    split; neighbouring words also joined;
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

const lettersOnly = /^\p{L}+$/u;

function isCorrected(word: string): boolean {
  return word.length >= corrected.withOneError && lettersOnly.test(word);
}

interface SimilarWord extends KnownWord {
  readonly distance: number;
  readonly isNear: boolean;
  readonly isLonger: boolean;
}

/**
 * Keeps the words that resemble the searched word. The smaller of two distances counts, with and without the ending, so
 * that another ending is not an error.
 */
function withDistances(words: readonly Word[], recorded: readonly KnownWord[]): SimilarWord[] {
  const stems = new Map(words.map(({ word, lexemes: [stem = word] }) => [word, stem]));
  return recorded
    .map((known) => {
      const { asked = known.word, word, lexemes } = known;
      const [stem = word] = lexemes;
      const distance = Math.min(editDistance(asked, word), editDistance(stems.get(asked) ?? stem, stem));
      const isNear = distance <= (asked.length >= corrected.withTwoErrors ? 2 : 1);
      return { ...known, distance, isNear, isLonger: word.startsWith(asked) };
    })
    .filter(({ isNear, isLonger }) => isNear || isLonger);
}

/**
 * Returns the nearest known words, or else known words that begin with the word; and the word split into two known
 * parts.
 */
function similarTo(word: string, found: readonly SimilarWord[], exact: ReadonlyMap<string, Lexemes>): Lexemes[] {
  const own = found.filter(({ asked }) => asked === word);
  const least = Math.min(...own.map(({ distance }) => distance));
  const near = own.filter(({ distance, isNear }) => isNear && distance === least);
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
