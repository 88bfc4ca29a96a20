// Normalizes strings from clients before any other code reads them: NFC, no NUL, no lone surrogates, bounded depth.
import { type Fault, maxFaults } from '../problem/index.ts';
import { maxJsonDepth, toPointer } from './json-pointer.ts';

const forbiddenMembers = new Set(['__proto__', 'constructor', 'prototype']);

/** Matches printable ASCII, which is in normalization form C and has no fault. */
const plainText = /^[\x20-\x7e]*$/;
/** Reads each character once. A regular expression for 31 combining marks would start again at each of them. */
const marks = /\p{M}+/gu;
/**
 * The limit of UAX #15 section 13. The time to normalize a longer run grows with the square of its length: 2 s for the
 * largest body.
 */
const maxMarks = 30;

/**
 * Returns the reason why a string is rejected, or undefined. PostgreSQL cannot store NUL, and UTF-8 cannot encode lone
 * surrogates.
 */
export function textFault(value: string): string | undefined {
  if (plainText.test(value)) return undefined;
  if (value.includes('\0')) return 'must not contain the character NUL (U+0000)';
  if (!value.isWellFormed()) return 'must not contain a lone surrogate';
  if (hasManyMarks(value)) return `must not contain more than ${maxMarks} combining marks in a row`;
  return undefined;
}

function hasManyMarks(value: string): boolean {
  for (const [run] of value.matchAll(marks)) if (run.length > maxMarks && [...run].length > maxMarks) return true;
  return false;
}

export interface CleanJson {
  readonly value: unknown;
  /** A fault for each rejected string, member name or depth, at most 100. */
  readonly faults: readonly Fault[];
  /** The number of members in all objects together. */
  readonly members: number;
}

/** Returns a copy of a JSON value with every string in Unicode normalization form C. */
export function cleanJson(given: unknown): CleanJson {
  const faults: Fault[] = [];
  const path: (string | number)[] = [];
  let members = 0;
  const refuse = (detail: string): null => {
    if (faults.length < maxFaults) faults.push({ pointer: toPointer(path), detail });
    return null;
  };
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (plainText.test(value)) return value;
      const detail = textFault(value);
      return detail === undefined ? value.normalize('NFC') : refuse(detail);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (path.length === maxJsonDepth) return refuse(`must not be nested deeper than ${maxJsonDepth} levels`);
    if (Array.isArray(value)) {
      return value.map((item, index) => {
        path.push(index);
        const copy = clean(item);
        path.pop();
        return copy;
      });
    }
    const copy: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      members += 1;
      path.push(name);
      const detail = nameFault(name);
      if (detail === undefined) copy[name] = clean(member);
      else refuse(detail);
      path.pop();
    }
    return copy;
  };
  return { value: clean(given), faults, members };
}

function nameFault(name: string): string | undefined {
  if (forbiddenMembers.has(name)) return 'is not an allowed member name';
  return textFault(name);
}
