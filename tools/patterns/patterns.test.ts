// No pattern of the product, including new ones, takes more than a few steps for each character of any text.
import { describe, expect, it } from '@jest/globals';
import { attacksOn, attackText } from './attack-texts.ts';
import { type CompiledPattern, charactersOf, compilePattern, countSteps } from './count-steps.ts';
import { findPatterns } from './find-patterns.ts';

/** The lengths of the texts: many short ones, then longer ones of the most expensive attacks. */
const [short, long, longest] = [200, 8 * 1024, 100 * 1024];
const mostPerCharacter = 10;
const furtherTried = 3;

const patterns = findPatterns().map((pattern) => ({ name: `/${pattern.source}/${pattern.flags}`, ...pattern }));
let tried = 0;

/**
 * Returns the largest number of steps for a character over all attacks, and over longer texts of the most expensive
 * ones.
 */
function worstOf(pattern: CompiledPattern): { perCharacter: number; text: string } {
  const perCharacter = (text: string): number => {
    const characters = charactersOf(text, pattern.flags).length;
    tried += 1;
    return countSteps(pattern, text, 4 * mostPerCharacter * characters).steps / characters;
  };
  const results = attacksOn(pattern)
    .map((attack) => ({ attack, perCharacter: perCharacter(attackText(attack, short)) }))
    .sort((a, b) => b.perCharacter - a.perCharacter);
  const further = results
    .slice(0, furtherTried)
    .flatMap(({ attack }) =>
      [long, longest].map((length) => ({ attack, perCharacter: perCharacter(attackText(attack, length)) })),
    );
  const [worst] = [...results, ...further].sort((a, b) => b.perCharacter - a.perCharacter);
  return { perCharacter: worst?.perCharacter ?? 0, text: worst === undefined ? '' : attackText(worst.attack, 40) };
}

describe.each(patterns)('$name', ({ source, flags, files }) => {
  const pattern = compilePattern(source, flags);

  it(`each pattern takes at most ${mostPerCharacter} steps for each character`, () => {
    const { perCharacter, text } = worstOf(pattern);
    expect([perCharacter <= mostPerCharacter || perCharacter, files, text]).toEqual([true, files, text]);
  });

  it('each pattern has the same matches in the counter and in the engine', () => {
    const matches = (text: string): boolean => new RegExp(source, flags).test(text);
    const attacks = attacksOn(pattern).filter((_, index) => index % 7 === 0);
    const differing = attacks
      .map((attack) => attackText(attack, short))
      .filter((text) => matches(text) !== countSteps(pattern, text, Number.POSITIVE_INFINITY).isMatch);
    expect(differing).toEqual([]);
  });
});

it.each([
  ['\\p{M}{31}', 'u', 'begins anew at each of 30 marks'],
  ['\\s+$', '', 'begins anew at each blank'],
  ['"(?:[^"\\\\]|\\\\.)*"', 'g', 'begins anew at each escaped quote of a text without an end'],
  ['^(a+)+$', '', 'divides a word in every way'],
  ['(\\w+)=', 'g', 'begins anew at each letter of a name'],
])('the tool finds that /%s/%s %s', (source, flags) => {
  expect(worstOf(compilePattern(source, flags)).perCharacter).toBeGreaterThan(mostPerCharacter);
});

it('the tool finds the patterns of programs and of contracts', () => {
  const files = patterns.flatMap((pattern) => pattern.files);
  for (const file of [
    'shared/src/json/normalize-text.ts',
    'shared/src/http/conditional.ts',
    'shared/src/events/event.ts',
  ])
    expect(files).toContain(file);
  expect(patterns.find(({ source }) => source.includes('\\p{L}\\p{M}\\p{N}!#$'))?.files).toEqual([
    'services/accounts/openapi.yaml',
  ]);
  expect(patterns.length).toBeGreaterThan(100);
  console.log(`${patterns.length} patterns, ${tried} texts`);
});
