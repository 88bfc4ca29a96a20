// Cleans what a client wrote before anything else looks at it: NFC, no NUL, no lone surrogates, bounded depth.
import type { Fault } from './problem.ts';

export const maxJsonDepth = 32;

const forbiddenMembers = new Set(['__proto__', 'constructor', 'prototype']);

/** Why a text cannot be stored, or undefined when it can. PostgreSQL has no NUL, UTF-8 has no lone surrogates. */
export function textFault(value: string): string | undefined {
  if (value.includes('\0')) return 'must not contain the character NUL (U+0000)';
  if (!value.isWellFormed()) return 'must not contain a lone surrogate';
  return undefined;
}

/**
 * A copy of a JSON value with every text in Unicode normalization form C.
 * @param faults gets a fault for each text, member name or depth that is refused
 */
export function cleanJson(value: unknown, faults: Fault[], pointer = '', depth = 0): unknown {
  if (typeof value === 'string') {
    const detail = textFault(value);
    if (detail !== undefined) faults.push({ pointer, detail });
    return value.normalize('NFC');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maxJsonDepth) {
    faults.push({ pointer, detail: `must not be nested deeper than ${maxJsonDepth} levels` });
    return null;
  }
  if (Array.isArray(value))
    return value.map((item, index) => cleanJson(item, faults, `${pointer}/${index}`, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(name)}`;
    const detail = forbiddenMembers.has(name) ? 'is not an allowed member name' : textFault(name);
    if (detail !== undefined) faults.push({ pointer: at, detail });
    else copy[name] = cleanJson(member, faults, at, depth + 1);
  }
  return copy;
}

const plainName = /^\w*$/;

/** A member name as a JSON Pointer reference token (RFC 6901 section 3). */
export function escapePointer(name: string): string {
  if (plainName.test(name)) return name;
  return name.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed();
}
