// Creates the problem for an unknown address, with a suggestion of the address that the client probably meant.
import { nearestName, Problem } from '@shop/shared/problem';

const nothing = 'There is nothing at this address.';
const suggestible = /^(?:\/[\w.~-]+)+\/?$/;

/**
 * Returns the problem `not-found`.
 * @param addresses paths of the contracts, such as `/v1/orders/{orderId}`
 */
export function noSuchAddress(path: string, addresses: Iterable<string>): Problem {
  const nearest = path.length <= 200 && suggestible.test(path) ? nearestAddress(path, addresses) : undefined;
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return new Problem('not-found', `${nothing}${hint}`);
}

/** Returns whether an error, or none, means that the address does not exist; a missing resource is another problem. */
export function isUnknownAddress(error: unknown): boolean {
  return error === undefined || (error instanceof Problem && error.code === 'not-found' && error.message === nothing);
}

function nearestAddress(path: string, addresses: Iterable<string>): string | undefined {
  const segments = path.split('/').filter((segment) => segment !== '');
  const forms = segments[0] === 'v1' ? [segments] : [['v1', ...segments], segments];
  const near = forms.flatMap((form) =>
    [...addresses].flatMap((address) => fitting(form, address.slice(1).split('/')) ?? []),
  );
  const other = near.filter((address) => address !== path);
  return nearestName(path, other) ?? other[0];
}

/** Returns the address with the segments of the client in place of its parameters, if its other segments are near. */
function fitting(given: readonly string[], address: readonly string[]): string | undefined {
  if (given.length !== address.length) return undefined;
  const segments = address.map((segment, index) => {
    const own = given[index] ?? '';
    return segment.startsWith('{') ? own : nearestName(own, [segment]);
  });
  return segments.includes(undefined) ? undefined : `/${segments.join('/')}`;
}
