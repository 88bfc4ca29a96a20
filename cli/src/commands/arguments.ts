// Arguments of several commands.
import { resolve } from 'node:path';
import { time } from '@shop/shared/collection';
import { InvalidArgumentError } from 'commander';

/** Parses the maximum number of rows. */
export function limit(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 1_000) throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
  return number;
}

/** Parses a number of days; 0 is permitted. */
export function days(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of days.');
}

/**
 * Returns the absolute path; npm runs the command line in the checkout, but the caller typed the path in another
 * folder.
 */
export function givenPath(path: string): string {
  return resolve(process.env.INIT_CWD ?? '.', path);
}

export const orderId = idOf('an order');
export const accountId = idOf('an account');
export const emailId = idOf('an e-mail');

/** Returns a parser of ids that throws InvalidArgumentError for a string that is not a UUID. */
export function idOf(what: string): (text: string) => string {
  return (text) => {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
    throw new InvalidArgumentError(`It must be the id of ${what}, a UUID.`);
  };
}

/** Parses a time in RFC 3339, or a date, which means the beginning of that day in UTC. */
export function moment(text: string): string {
  const value = time().fromText(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (value !== undefined) return String(value);
  throw new InvalidArgumentError('It must be a day or a time, such as 2026-11-21 or 2026-11-21T03:00:00Z.');
}

/** Returns a parser that trims a string and requires 1 to `maximum` characters. */
export function textOf(maximum: number): (text: string) => string {
  return (text) => {
    const trimmed = text.normalize('NFC').trim();
    if (trimmed !== '' && [...trimmed].length <= maximum) return trimmed;
    throw new InvalidArgumentError(`It must have 1 to ${maximum} characters.`);
  };
}
