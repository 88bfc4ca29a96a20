// Texts that are expensive for a pattern: repetitions, near matches, and matches that fail at the end.
import type { AST } from '@eslint-community/regexpp';
import { type CompiledPattern, charactersOf } from './count-steps.ts';

/** Characters of every class that the patterns use, and some rare ones. */
const usual = [...'a0A_ -.,:;/\\"\'@=!\n\t\r{}[]()<>?&%*+~|#`^$', '\u0300', '\u{20000}', 'é', '\u2028', '\ud800', '\0'];

/** The numbers of repetitions for each loop: none, some, and one more than the bounds of patterns. */
const repetitions = [0, 1, 2, 15, 31];
const variants = 4;

/** A repeated piece between a start and an end. */
export interface Attack {
  readonly start: string;
  readonly piece: string;
  readonly end: string;
}

/** Returns the text of an attack with about `length` characters. */
export function attackText({ start, piece, end }: Attack, length: number): string {
  return `${start}${piece.repeat(Math.ceil(length / piece.length))}${end}`;
}

/**
 * Attacks on a pattern. Their pieces are single characters, pairs, matching words, and prefixes of such words, also
 * with a wrong next character.
 */
export function attacksOn({ ast, flags }: CompiledPattern): Attack[] {
  const alphabet = [...new Set([...lettersOf(ast), ...usual])];
  const words = wordsOf(ast, flags, alphabet);
  const pieces = new Set(alphabet);
  const own = alphabet.slice(0, 12);
  for (const one of own) for (const other of own) pieces.add(one + other);
  for (const word of words) {
    const characters = charactersOf(word, flags);
    pieces.add(word);
    for (const odd of ['a', '!', '\n', '"']) {
      pieces.add(word + odd);
      pieces.add(characters.slice(0, -1).join('') + odd);
    }
    for (let end = 1; end < Math.min(characters.length, 12); end += 1) pieces.add(characters.slice(0, end).join(''));
  }
  pieces.delete('');
  const starts = new Set(['', ...words.slice(0, 4).map((word) => word.slice(0, 8))]);
  return [...pieces].flatMap((piece) =>
    [...starts].flatMap((start) => ['', '\n!', 'a'].map((end): Attack => ({ start, piece, end }))),
  );
}

/** Returns the characters in a pattern, including the ends of its ranges. */
function lettersOf(node: unknown): string[] {
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const { type, value: code } = value as { type?: unknown; value?: unknown };
    if (type === 'Character' && typeof code === 'number') found.add(String.fromCodePoint(code));
    for (const [name, member] of Object.entries(value)) if (name !== 'parent') visit(member);
  };
  visit(node);
  return [...found];
}

/** Returns words that match the pattern, or would match without its assertions. */
function wordsOf(ast: AST.Pattern, flags: AST.Flags, alphabet: readonly string[]): string[] {
  const characterFlags = `${flags.ignoreCase ? 'i' : ''}${flags.unicode ? 'u' : ''}${flags.unicodeSets ? 'v' : ''}`;
  const words = new Set<string>();
  for (const times of repetitions) {
    for (let variant = 0; variant < variants; variant += 1) {
      let turn = variant;
      const choose = <T>(items: readonly T[]): T | undefined => items[turn++ % Math.max(1, items.length)];
      const ofAlternatives = (alternatives: readonly AST.Alternative[]): string =>
        (choose(alternatives)?.elements ?? []).map(ofElement).join('');
      const ofElement = (element: AST.Element): string => {
        if (element.type === 'Group' || element.type === 'CapturingGroup') return ofAlternatives(element.alternatives);
        if (element.type === 'Quantifier') {
          const count = Math.min(Math.max(element.min, times), element.max);
          return Array.from({ length: count }, () => ofElement(element.element)).join('');
        }
        if (element.type === 'Assertion' || element.type === 'Backreference') return '';
        const accepts = new RegExp(`^${element.raw}$`, characterFlags);
        return choose(alphabet.filter((character) => accepts.test(character))) ?? '';
      };
      words.add(ofAlternatives(ast.alternatives).slice(0, 400));
    }
  }
  return [...words];
}
