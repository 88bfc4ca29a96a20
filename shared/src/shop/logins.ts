// The logins of one role at a server. While a password is replaced, a role has two logins, so that processes with
// either one work.

export interface Login {
  /** The name of the role, or of a further login: `orders_2`. */
  readonly name: string;
  readonly password: string;
}

/**
 * Reads the logins of a role. The first one is used, and all of them are accepted.
 * @param value `orders:password,orders_2:password`, or only the password of the login that has the name of the role
 * @example readLogins('orders', 'abc,d:e') // [{ name: 'orders', password: 'abc,d:e' }], because no part begins with
 *   the name
 */
export function readLogins(role: string, value: string): readonly [Login, ...Login[]] {
  const parts = value.split(',');
  const logins = parts.flatMap((part) => {
    const colon = part.indexOf(':');
    const [name, password] = [part.slice(0, Math.max(colon, 0)), part.slice(colon + 1)];
    return isLoginOf(role, name) && password !== '' ? [{ name, password }] : [];
  });
  const [first, ...others] = logins;
  return first === undefined || logins.length < parts.length ? [{ name: role, password: value }] : [first, ...others];
}

function isLoginOf(role: string, name: string): boolean {
  return name === role || (name.startsWith(`${role}_`) && /^[1-9]\d{0,8}$/.test(name.slice(role.length + 1)));
}
