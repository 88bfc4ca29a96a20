// JSON Pointers (RFC 6901) to members and elements of a body.

/** The maximum depth of objects and arrays in a body. */
export const maxJsonDepth = 32;

const plainName = /^\w*$/;

/** Returns a member name as a JSON Pointer reference token (RFC 6901 section 3). */
export function escapePointer(name: string): string {
  if (plainName.test(name)) return name;
  return name.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed();
}

/** The maximum length of a shown name. Every name of a contract is shorter. */
const shownCharacters = 100;

/** Returns the pointer (RFC 6901) to a member or an element. A longer name was sent by a client and is truncated. */
export function pointerTo(base: string, name: string | number): string {
  return `${base}/${escapePointer(String(name).slice(0, shownCharacters))}`;
}

/** Returns the pointer to the end of a path of names and positions, not deeper than a body may be. */
export function toPointer(path: readonly (string | number)[]): string {
  return path.slice(0, maxJsonDepth).reduce<string>(pointerTo, '');
}
