// Parses query strings: strict percent-decoding, and the conversion of strings to the types of the contract.

import { textFault } from '../json/index.ts';
import { type Fault, maxFaults } from '../problem/index.ts';

/** Parameter name → its values in order of appearance. */
export type QueryString = ReadonlyMap<string, readonly string[]>;

/**
 * Splits and decodes the query of a request target (application/x-www-form-urlencoded).
 * @param faults gets a fault for each value that is not UTF-8, contains NUL, or has an invalid percent sequence; the
 * result omits the value
 */
export function parseQueryString(target: string, faults: Fault[]): QueryString {
  const start = target.indexOf('?');
  const parameters = new Map<string, string[]>();
  if (start === -1 || start === target.length - 1) return parameters;
  for (const piece of target.slice(start + 1).split('&')) {
    if (piece === '') continue;
    if (faults.length === maxFaults) break;
    const equals = piece.indexOf('=');
    const name = decode(equals === -1 ? piece : piece.slice(0, equals));
    const value = decode(equals === -1 ? '' : piece.slice(equals + 1));
    if (name === undefined || value === undefined) {
      faults.push({ parameter: name ?? piece.slice(0, 80), detail: 'is not valid percent-encoded UTF-8' });
      continue;
    }
    const detail = textFault(name) ?? textFault(value);
    if (detail !== undefined) {
      faults.push({ parameter: name.toWellFormed().replaceAll('\0', ''), detail });
      continue;
    }
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}

/** Matches a string that needs no decoding. */
const plain = /^[\w.,:*~-]*$/;

function decode(piece: string): string | undefined {
  if (plain.test(piece)) return piece;
  try {
    return decodeURIComponent(piece.replaceAll('+', ' ')).normalize('NFC');
  } catch {
    return undefined;
  }
}

/**
 * Converts a string to the type of the schema. A string that is not of this type is returned unchanged, and the
 * validator reports it. Numbers with decimals stay strings, which the operation parses exactly. `02` is not a number,
 * as in JSON.
 */
export function coerce(value: string, type: unknown): string | number | boolean {
  if (type === 'integer' && /^-?(?:0|[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
