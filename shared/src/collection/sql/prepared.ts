// Caches compiled statements by shape, and names the frequent ones so that PostgreSQL parses and plans them once.

import type { CollectionSpec } from '../grammar/spec.ts';
import type { Input } from './bind-parameters.ts';
import { compile, type Statement, toShape } from './statement.ts';

export interface Prepared {
  readonly statement: Statement;
  /**
   * The name of the prepared statement. Undefined while the shape is rare, when its plan depends on the values, and
   * when the limit for names is reached.
   */
  readonly name: string | undefined;
}

const keptShapes = 500;
const usesBeforeName = 3;
/**
 * Every connection stores its named statements, which use 0.1 to 0.15 kB of PostgreSQL's memory for each character of
 * SQL text. Clients can send any number of different queries, so the total length of named statements is limited: at
 * most 15 MB for each connection. Other statements are planned each time. Usual statements have 250 to 3,500
 * characters, a list of brands by rating 6,700.
 */
const namedCharacters = 100_000;
const longestNamed = 8_000;

/**
 * SQL text → name, for the whole process, because collections may share a connection, on which a name identifies one
 * statement.
 */
const names = new Map<string, string>();
let charactersLeft = namedCharacters;

interface Kept {
  readonly statement: Statement;
  uses: number;
}

/** The statements of one spec. It stores at most 500 shapes, and removes the one that was unused for longest. */
export class PreparedStatements {
  readonly #spec: CollectionSpec<never>;
  readonly #shapes = new Map<string, Kept>();

  constructor(spec: CollectionSpec<never>) {
    this.#spec = spec;
  }

  get(input: Input): Prepared {
    const shape = toShape(input);
    const kept = this.#shapes.get(shape) ?? { statement: compile(this.#spec, input), uses: 0 };
    this.#shapes.delete(shape);
    this.#shapes.set(shape, kept);
    if (this.#shapes.size > keptShapes) this.#shapes.delete(this.#shapes.keys().next().value ?? '');
    kept.uses += 1;
    const { statement, uses } = kept;
    return { statement, name: statement.stablePlan && uses >= usesBeforeName ? this.#nameOf(statement) : undefined };
  }

  /**
   * Returns the name of a statement. The same SQL text always has the same name, also after its shape was removed from
   * the cache.
   */
  #nameOf({ text }: Statement): string | undefined {
    const known = names.get(text);
    if (known !== undefined || text.length > Math.min(longestNamed, charactersLeft)) return known;
    charactersLeft -= text.length;
    const name = `${this.#spec.name} ${names.size + 1}`;
    names.set(text, name);
    return name;
  }
}
