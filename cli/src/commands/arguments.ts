// Arguments of several commands.
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** A number of days, 0 included. */
export function days(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of days.');
}

/** The absolute path; npm runs the command line in the checkout, but the caller typed the path in another folder. */
export function givenPath(path: string): string {
  return resolve(process.env.INIT_CWD ?? '.', path);
}

export const orderId = idOf('an order');
export const accountId = idOf('an account');
export const emailId = idOf('an e-mail');

/** Returns a parser of ids that throws InvalidArgumentError for a text that is not a UUID. */
function idOf(what: string): (text: string) => string {
  return (text) => {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
    throw new InvalidArgumentError(`It must be the id of ${what}, a UUID.`);
  };
}
