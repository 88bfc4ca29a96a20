// Finds the known words that a misspelt word may mean.
import { editDistance } from './edit-distance.ts';
import type { KnownWord, Word } from './search-words.ts';
import type { Lexemes } from './terms.ts';

/** The minimum lengths of a word that is corrected, and of a word with two tolerated errors. */
const corrected = { withOneError: 4, withTwoErrors: 8 };
const shortestPart = 3;

const lettersOnly = /^\p{L}+$/u;

export function isCorrected(word: string): boolean {
  return word.length >= corrected.withOneError && lettersOnly.test(word);
}

interface SimilarWord extends KnownWord {
  readonly distance: number;
  readonly isNear: boolean;
  readonly isLonger: boolean;
}

/**
 * Returns the words that resemble the searched word. The smaller distance counts, of the words with and without their
 * endings, so that another ending is not an error.
 */
export function withDistances(words: readonly Word[], recorded: readonly KnownWord[]): SimilarWord[] {
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
export function similarTo(word: string, found: readonly SimilarWord[], exact: ReadonlyMap<string, Lexemes>): Lexemes[] {
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

export function splits(word: string): [string, string][] {
  const count = Math.max(word.length - 2 * shortestPart + 1, 0);
  return Array.from({ length: count }, (_, index) => {
    return [word.slice(0, index + shortestPart), word.slice(index + shortestPart)];
  });
}
