// The steps in which a secret is replaced while the shop runs. Between two steps, all processes are replaced one by
// one.
import { readLogins } from '@shop/shared/shop';
import { newSecret, type Secrets } from './secret-files.ts';

/** A step of a rotation: every process accepts the new value, uses it, and accepts no other one. */
export const steps = ['add', 'use', 'end'] as const;
export type Step = (typeof steps)[number];

/**
 * What can be replaced. `database` and `broker` stand for the logins of all services, `administrator` for the password
 * of the database's administrator.
 */
export const rotated = [
  'database',
  'administrator',
  'broker',
  'internal',
  'cursors',
  'key-encryption',
  'webhooks',
] as const;
export type Rotated = (typeof rotated)[number];

const keys = {
  internal: 'internal',
  cursors: 'cursors',
  'key-encryption': 'keyEncryption',
  webhooks: 'webhooks',
} as const;

/**
 * Returns the secrets after the step:
 * - `add` appends a new value, or a login with a new password. It is not used yet.
 * - `use` moves the value that was added last to the front.
 * - `end` removes all values but the first one.
 *
 * The administrator has one password, which the step `use` replaces: no process uses it while the shop runs.
 *
 * A rotation that was interrupted can begin again with `add`, because nothing that a process uses is removed before
 * `end`.
 */
export function rotate(secrets: Secrets, step: Step, what: Rotated): Secrets {
  if (what === 'database') return { ...secrets, roles: eachLogin(secrets.roles, step) };
  if (what === 'broker') return { ...secrets, users: eachLogin(secrets.users, step) };
  if (what === 'administrator') {
    return step === 'use' ? { ...secrets, keys: { ...secrets.keys, administrator: newSecret() } } : secrets;
  }
  const key = keys[what];
  const value = secrets.keys[key];
  const changed = step === 'add' ? `${value},${newSecret()}` : arrange(value, step);
  return { ...secrets, keys: { ...secrets.keys, [key]: changed } };
}

function eachLogin<Name extends string>(values: Readonly<Record<Name, string>>, step: Step): Record<Name, string> {
  const entries = Object.entries<string>(values);
  const changed = entries.map(([role, value]) => [role, step === 'add' ? addLogin(role, value) : arrange(value, step)]);
  return Object.fromEntries(changed) as Record<Name, string>;
}

/** Appends a login whose name has the next number, because a removed login may still have connections. */
function addLogin(role: string, value: string): string {
  const logins = readLogins(role, value);
  const numbers = logins.map(({ name }) => Number(name.slice(role.length + 1) || 1));
  const added = { name: `${role}_${Math.max(...numbers) + 1}`, password: newSecret() };
  return [...logins, added].map(({ name, password }) => `${name}:${password}`).join();
}

function arrange(value: string, step: 'use' | 'end'): string {
  const values = value.split(',');
  return step === 'use' ? [...values.slice(-1), ...values.slice(0, -1)].join() : values.slice(0, 1).join();
}
