// Ids on the command line.
import { InvalidArgumentError } from 'commander';

export const orderId = idOf('an order');
export const accountId = idOf('an account');

/** Reads an id. @throws InvalidArgumentError when the text can be the id of nothing */
function idOf(what: string): (text: string) => string {
  return (text) => {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
    throw new InvalidArgumentError(`It must be the id of ${what}, a UUID.`);
  };
}
