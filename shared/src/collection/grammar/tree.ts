// The parse tree of both notations. Values are not checked yet. Each part has its position in the request.
import type { Fault } from '../../problem/index.ts';
import { bounds } from './bounds.ts';

/** The location of a part in the request, as a member of a problem document's `errors`. */
export type InputLocation =
  | {
      readonly parameter: string;
      /** The position of a character within the parameter's value, counted from 1. */
      readonly position?: number;
      /** The index among several parameters of one name, counted from 1; absent when there is only one. */
      readonly occurrence?: number;
    }
  | { readonly pointer: string };

/** A value as the client wrote it: a string in a query, any JSON value in a body. */
export interface WrittenValue {
  readonly spelling: 'text' | 'json';
  readonly written: unknown;
  readonly at: InputLocation;
}

export interface WrittenCondition {
  readonly field: string;
  readonly operator: string;
  /** The parsed values, at most as many as a split can contain. Further values are only counted. */
  readonly values: readonly WrittenValue[];
  /** The number of values in the request. */
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
  /**
   * The number of conditions and alternatives in the request. It includes those beyond a limit, which are not parsed.
   */
  count: { conditions: number; groups: number };
  /** At most as many criteria as are permitted. */
  sort: WrittenSort[];
  /** Parameters that the operation itself reads, as a query contains them. */
  own: string[];
  /** The same members of a body. */
  ownMembers: Record<string, unknown>;
  limit?: WrittenValue;
  cursor?: WrittenValue;
  fields?: WrittenValue[];
}

/** Returns a fault at a location, with the accepted values when they are a closed list. */
export function fault(at: InputLocation, detail: string, accepted?: readonly string[]): Fault {
  return { ...at, detail, ...(accepted ? { accepted } : {}) };
}

/** Returns the fault of the first sort criterion past the limit. */
export function surplusCriterion(at: InputLocation, count: number): Fault {
  return fault(at, `at most ${bounds.sortCriteria} sort criteria; these are ${count}`);
}

const shownCharacters = 40;

/** Quotes the client's own input for a sentence. It is truncated and contains no control characters. */
export function shown(written: unknown): string {
  const text = typeof written === 'string' ? written.toWellFormed() : (JSON.stringify(written) ?? 'undefined');
  const cut = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
  return typeof written === 'string' ? JSON.stringify(cut.toWellFormed()) : cut;
}
