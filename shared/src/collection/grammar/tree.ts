// The parse tree of both notations. Nothing is checked yet, and each part has its position in the request.
import type { Fault } from '../../problem/index.ts';
import { bounds } from './bounds.ts';

/** The place of a part in the request, as a member of a problem document's `errors`. */
export type InputLocation =
  | {
      readonly parameter: string;
      /** Character within the parameter's value, counted from 1. */
      readonly position?: number;
      /** Which of several parameters of one name, counted from 1; absent when there is one. */
      readonly occurrence?: number;
    }
  | { readonly pointer: string };

/** A value as written: text from a query, any JSON from a body. */
export interface WrittenValue {
  readonly spelling: 'text' | 'json';
  readonly written: unknown;
  readonly at: InputLocation;
}

export interface WrittenCondition {
  readonly field: string;
  readonly operator: string;
  /** At most as many as a split can hold. Further values are counted and not parsed. */
  readonly values: readonly WrittenValue[];
  /** How many values were written. */
  readonly count: number;
  readonly at: InputLocation;
}

export interface WrittenSort {
  readonly field: string;
  readonly direction: string;
  readonly at: InputLocation;
}

export interface Tree {
  readonly spelling: 'query' | 'body';
  conditions: WrittenCondition[];
  groups: { conditions: WrittenCondition[]; at: InputLocation }[];
  /** How many conditions and alternatives were written, those included that are past a bound and were not read. */
  count: { conditions: number; groups: number };
  /** At most as many as are accepted. */
  sort: WrittenSort[];
  /** What the operation reads itself, as a query spells it. */
  own: string[];
  /** The same for a body. */
  ownMembers: Record<string, unknown>;
  limit?: WrittenValue;
  cursor?: WrittenValue;
  fields?: WrittenValue[];
}

/** A fault at a place, with what would have been accepted there when that is a closed list. */
export function fault(at: InputLocation, detail: string, accepted?: readonly string[]): Fault {
  return { ...at, detail, ...(accepted ? { accepted } : {}) };
}

/** The fault of the first sort criterion that is one too many. */
export function surplusCriterion(at: InputLocation, count: number): Fault {
  return fault(at, `at most ${bounds.sortCriteria} sort criteria; these are ${count}`);
}

const shownCharacters = 40;

/** The client's own text in a sentence: quoted, cut short, and harmless in a log line. */
export function shown(written: unknown): string {
  const text = typeof written === 'string' ? written.toWellFormed() : (JSON.stringify(written) ?? 'undefined');
  const cut = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
  return typeof written === 'string' ? JSON.stringify(cut.toWellFormed()) : cut;
}
