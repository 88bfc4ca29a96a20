// The logins of one role at a server. While a password is replaced, a role has two logins, so that processes with either one work.

export interface Login {
  /** The name of the role, or of a further login: `orders_2`. */
  readonly name: string;
  readonly password: string;
}

/**
 * Reads the logins of a role. The first one is used, and all of them are accepted.
 * @param value `orders:password,orders_2:password`, or only the password of the login that has the name of the role
 * @example readLogins('orders', 'abc,d:e') // [{ name: 'orders', password: 'abc,d:e' }], because no part begins with the name
 */
export function readLogins(role: string, value: string): readonly [Login, ...Login[]] {
  const pattern = new RegExp(`^(${role}(?:_[1-9]\\d{0,8})?):(.+)$`);
  const logins = value.split(',').flatMap((part) => {
    const [, name, password] = pattern.exec(part) ?? [];
    return name === undefined || password === undefined ? [] : [{ name, password }];
  });
  const [first, ...others] = logins;
  const isList = logins.length === value.split(',').length;
  return first === undefined || !isList ? [{ name: role, password: value }] : [first, ...others];
}
