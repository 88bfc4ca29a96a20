// Counts the steps of a backtracking engine for a pattern and a text. Unlike a time, the number is the same on every
// machine.
import { type AST, RegExpParser } from '@eslint-community/regexpp';

type Instruction =
  | { readonly op: 'character'; readonly accepts: (character: string) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'edge'; readonly kind: 'start' | 'end' | 'word'; readonly negate: boolean }
  | { readonly op: 'look'; readonly program: Program; readonly negate: boolean };

interface Program {
  readonly code: readonly Instruction[];
  /** 1, or -1 in a lookbehind. */
  readonly direction: 1 | -1;
}

export interface CompiledPattern {
  readonly ast: AST.Pattern;
  readonly flags: AST.Flags;
  readonly program: Program;
}

export interface Steps {
  readonly steps: number;
  readonly isMatch: boolean;
}

/** @throws Error for a backreference, or for a loop over a possibly empty expression, whose cost is not counted here */
export function compilePattern(source: string, flags: string): CompiledPattern {
  const { pattern: ast, flags: parsed } = new RegExpParser().parseLiteral(
    `/${source.replaceAll(/(?<!\\)\//g, '\\/')}/${flags}`,
  );
  return { ast, flags: parsed, program: compile(ast.alternatives, parsed, 1) };
}

/** The characters of a text as the pattern reads them: code points with the flag u or v, else code units. */
export function charactersOf(text: string, flags: AST.Flags): string[] {
  return flags.unicode || flags.unicodeSets ? [...text] : text.split('');
}

/**
 * Runs the pattern over the whole text as `matchAll` does, or up to the first match without the flag g. A step is a
 * character that is tested, or an assertion.
 * @param most steps after which the run is aborted
 */
export function countSteps({ program, flags }: CompiledPattern, text: string, most: number): Steps {
  const run = new Run(charactersOf(text, flags), flags, most);
  let isMatch = false;
  let start = 0;
  while (start <= run.text.length && run.steps < most) {
    const end = run.execute(program, start);
    if (end !== undefined) {
      isMatch = true;
      if (!flags.global) break;
    } else if (flags.sticky) break;
    start = end === undefined || end === start ? start + 1 : end;
  }
  return { steps: run.steps, isMatch };
}

class Run {
  readonly text: readonly string[];
  readonly #flags: AST.Flags;
  readonly #most: number;
  steps = 0;

  constructor(text: readonly string[], flags: AST.Flags, most: number) {
    this.text = text;
    this.#flags = flags;
    this.#most = most;
  }

  /** Returns the end of the match that begins at `start`; undefined without a match. */
  execute({ code, direction }: Program, start: number): number | undefined {
    // The instruction and the position of each alternative that has not been tried.
    const open = [0, start];
    while (open.length > 0 && this.steps < this.#most) {
      let position = open.pop() ?? 0;
      let at = open.pop() ?? 0;
      for (;;) {
        const instruction = code[at];
        if (instruction === undefined) return position;
        at += 1;
        if (instruction.op === 'split') {
          open.push(instruction.second, position);
          at = instruction.first;
        } else if (instruction.op === 'jump') at = instruction.to;
        else {
          this.steps += 1;
          if (!this.#holds(instruction, direction, position)) break;
          if (instruction.op === 'character') position += direction;
        }
      }
    }
    return undefined;
  }

  #holds(instruction: Exclude<Instruction, { op: 'split' | 'jump' }>, direction: 1 | -1, position: number): boolean {
    if (instruction.op === 'look')
      return (this.execute(instruction.program, position) !== undefined) !== instruction.negate;
    if (instruction.op === 'edge') return this.#isEdge(instruction.kind, position) !== instruction.negate;
    const character = this.text[direction === 1 ? position : position - 1];
    return character !== undefined && instruction.accepts(character);
  }

  #isEdge(kind: 'start' | 'end' | 'word', position: number): boolean {
    const [before, after] = [this.text[position - 1], this.text[position]];
    if (kind === 'word') return isWord(before) !== isWord(after);
    const beside = kind === 'start' ? before : after;
    return beside === undefined || (this.#flags.multiline && /[\n\r\u2028\u2029]/.test(beside));
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}

function compile(alternatives: readonly AST.Alternative[], flags: AST.Flags, direction: 1 | -1): Program {
  const code: Instruction[] = [];
  addAlternatives(code, alternatives, flags, direction);
  return { code, direction };
}

function addAlternatives(
  code: Instruction[],
  alternatives: readonly AST.Alternative[],
  flags: AST.Flags,
  direction: 1 | -1,
): void {
  const ends: number[] = [];
  for (const [index, { elements }] of alternatives.entries()) {
    const split = index < alternatives.length - 1 ? addSplit(code) : undefined;
    for (const element of direction === 1 ? elements : elements.toReversed())
      addElement(code, element, flags, direction);
    if (split === undefined) break;
    ends.push(code.push({ op: 'jump', to: -1 }) - 1);
    split.second = code.length;
  }
  for (const end of ends) code[end] = { op: 'jump', to: code.length };
}

/** An instruction that selects between the next instruction and another one, which the caller sets. */
function addSplit(code: Instruction[]): { op: 'split'; first: number; second: number } {
  const split = { op: 'split' as const, first: code.length + 1, second: -1 };
  code.push(split);
  return split;
}

function addElement(code: Instruction[], element: AST.Element, flags: AST.Flags, direction: 1 | -1): void {
  switch (element.type) {
    case 'Group':
    case 'CapturingGroup':
      addAlternatives(code, element.alternatives, flags, direction);
      break;
    case 'Quantifier':
      addQuantifier(code, element, flags, direction);
      break;
    case 'Assertion':
      if (element.kind === 'lookahead' || element.kind === 'lookbehind') {
        const program = compile(element.alternatives, flags, element.kind === 'lookahead' ? 1 : -1);
        code.push({ op: 'look', program, negate: element.negate });
      } else code.push({ op: 'edge', kind: element.kind, negate: element.kind === 'word' && element.negate });
      break;
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      code.push({ op: 'character', accepts: accepterOf(element.raw, flags) });
      break;
    case 'Backreference':
      throw new Error(`the steps of ${element.raw} are not counted`);
  }
}

function addQuantifier(code: Instruction[], quantifier: AST.Quantifier, flags: AST.Flags, direction: 1 | -1): void {
  const { element, min, max, greedy, raw } = quantifier;
  const add = (): void => addElement(code, element, flags, direction);
  const splits: ReturnType<typeof addSplit>[] = [];
  for (let count = 0; count < min; count += 1) add();
  if (max === Number.POSITIVE_INFINITY) {
    if (mayBeEmpty(element)) throw new Error(`${raw} repeats what may be empty`);
    const again = code.length;
    splits.push(addSplit(code));
    add();
    code.push({ op: 'jump', to: again });
  } else {
    for (let count = min; count < max; count += 1) {
      splits.push(addSplit(code));
      add();
    }
  }
  for (const split of splits) {
    split.second = code.length;
    if (!greedy) [split.first, split.second] = [split.second, split.first];
  }
}

function mayBeEmpty(element: AST.Element): boolean {
  switch (element.type) {
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.some(({ elements }) => elements.every(mayBeEmpty));
    case 'Quantifier':
      return element.min === 0 || mayBeEmpty(element.element);
    default:
      return element.type === 'Assertion';
  }
}

/** Whether the class, set or character contains a character. */
function accepterOf(
  raw: string,
  { ignoreCase, dotAll, unicode, unicodeSets }: AST.Flags,
): (character: string) => boolean {
  const flags = [ignoreCase && 'i', dotAll && 's', unicode && 'u', unicodeSets && 'v'].filter((flag) => flag !== false);
  const pattern = new RegExp(`^${raw}$`, flags.join(''));
  const known = new Map<string, boolean>();
  return (character) => {
    const before = known.get(character);
    if (before !== undefined) return before;
    const accepted = pattern.test(character);
    known.set(character, accepted);
    return accepted;
  };
}
