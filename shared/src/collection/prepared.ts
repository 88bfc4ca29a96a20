// Keeps compiled statements by shape, and names the hot ones so that PostgreSQL parses and plans them once.

import type { Input } from './parameters.ts';
import type { CollectionSpec } from './spec.ts';
import { compile, type Statement, shapeOf } from './statement.ts';

export interface Prepared {
  readonly statement: Statement;
  /** Name of the prepared statement; undefined while the shape is rare or its plan depends on the values. */
  readonly name: string | undefined;
}

const keptShapes = 500;
const usesBeforeName = 3;
/**
 * A named statement stays in each connection until it closes. Names are therefore given slowly, so that a client that
 * invents shapes cannot fill the server's memory.
 */
const namesPerMinute = 60;

/** Of the whole process: collections may share a connection, and a name means one statement there. */
let named = 0;

interface Kept {
  readonly statement: Statement;
  uses: number;
  name: string | undefined;
}

/** Statements of one spec. Holds at most 500 shapes and forgets the one unused for longest. */
export class PreparedStatements {
  readonly #spec: CollectionSpec<never>;
  readonly #shapes = new Map<string, Kept>();
  #minute = 0;
  #namedThisMinute = 0;

  constructor(spec: CollectionSpec<never>) {
    this.#spec = spec;
  }

  get(input: Input): Prepared {
    const shape = shapeOf(input);
    const kept = this.#shapes.get(shape) ?? { statement: compile(this.#spec, input), uses: 0, name: undefined };
    this.#shapes.delete(shape);
    this.#shapes.set(shape, kept);
    if (this.#shapes.size > keptShapes) this.#shapes.delete(this.#shapes.keys().next().value ?? '');
    kept.uses += 1;
    if (kept.name === undefined && kept.uses >= usesBeforeName && kept.statement.steady) kept.name = this.#newName();
    return kept;
  }

  #newName(): string | undefined {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) this.#namedThisMinute = 0;
    this.#minute = minute;
    if (this.#namedThisMinute >= namesPerMinute) return undefined;
    this.#namedThisMinute += 1;
    named += 1;
    return `${this.#spec.name} ${named}`;
  }
}
