// Reads a process's environment once into one typed frozen object, and reports all configuration errors together.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './start-error.ts';
import { toReason } from './to-reason.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One environment variable: its name, its default (undefined when required) and its parser. */
export interface Variable<T> {
  readonly name: string;
  readonly fallback: string | undefined;
  /**
   * Parses a value. Throws an error with a message that states the allowed values. `readConfig` adds the given value.
   */
  readonly parse: (text: string) => T;
  /** Returns the part of an invalid value that a message may repeat, or undefined for none. Default: all of it. */
  readonly shown?: (text: string) => string | undefined;
}

type Values<S extends Record<string, Variable<unknown>>> = {
  readonly [K in keyof S]: S[K] extends Variable<infer T> ? T : never;
};

/** All configuration errors of the environment, one on each line. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'));
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/**
 * Reads all variables. The value of `NAME_OF_IT` may also be the content of the file that `NAME_OF_IT_FILE` names, or
 * of the file `name-of-it` in the folder `SECRETS_DIR`.
 * @throws ConfigError naming every variable that is missing or wrong
 */
export function readConfig<S extends Record<string, Variable<unknown>>>(
  environment: Environment,
  variables: S,
): Values<S> {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(variables)) {
    try {
      const text = readVariable(environment, variable.name) ?? variable.fallback;
      if (text === undefined) throw new Error('is required');
      values[key] = parse(variable, text, environment);
    } catch (error) {
      mistakes.push(`${variable.name} ${toReason(error)}`);
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(values) as Values<S>;
}

/**
 * Runs all readers, also after one of them has failed, so that their configuration errors are reported together.
 * @throws ConfigError with the errors of all readers, including those of a StartError
 */
export function readTogether<R extends Record<string, (environment: Environment) => unknown>>(
  environment: Environment,
  readers: R,
): { readonly [K in keyof R]: ReturnType<R[K]> } {
  const mistakes = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [key, read] of Object.entries(readers)) {
    try {
      values[key] = read(environment);
    } catch (error) {
      if (error instanceof ConfigError) for (const mistake of error.mistakes) mistakes.add(mistake);
      else if (error instanceof StartError) mistakes.add(error.message);
      else throw error;
    }
  }
  if (mistakes.size > 0) throw new ConfigError([...mistakes]);
  return Object.freeze(values) as { readonly [K in keyof R]: ReturnType<R[K]> };
}

const longestShown = 100;

function parse<T>(variable: Variable<T>, text: string, environment: Environment): T {
  try {
    return variable.parse(text);
  } catch (error) {
    const { shown = (value: string) => value } = variable;
    const part = shown(text);
    const given =
      part && `, not ${JSON.stringify(part.length > longestShown ? `${part.slice(0, longestShown)}…` : part)}`;
    const file = environment[variable.name] ? undefined : fileOf(environment, variable.name);
    const source = file === undefined ? '' : ` (from the file ${file})`;
    throw new Error(`${toReason(error)}${given ?? ''}${source}`);
  }
}

/** Returns whether a variable has a value, directly or in a file. */
export function isSet(environment: Environment, name: string): boolean {
  return Boolean(environment[name]) || fileOf(environment, name) !== undefined;
}

function readVariable(environment: Environment, name: string): string | undefined {
  const text = environment[name];
  if (text !== undefined && text !== '') return text;
  const file = fileOf(environment, name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    throw new Error(
      `could not be read from the file ${file} (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`,
    );
  }
}

/** Returns the file that contains the value of a variable. */
function fileOf(environment: Environment, name: string): string | undefined {
  const named = environment[`${name}_FILE`];
  if (named !== undefined && named !== '') return named;
  const folder = environment.SECRETS_DIR;
  if (folder === undefined || folder === '') return undefined;
  const file = join(folder, name.toLowerCase().replaceAll('_', '-'));
  return existsSync(file) ? file : undefined;
}

/** Defines a variable with a string that is not empty. */
export function string(name: string, fallback?: string): Variable<string> {
  return { name, fallback, parse: (value) => value };
}

/** Defines a variable with a value that is undefined when it is not set. */
export function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, fallback: '', parse: (value) => (value === '' ? undefined : variable.parse(value)) };
}

/** Defines a variable with a whole number from `min` to `max`, both included. */
export function integer(name: string, range: { min: number; max: number; fallback?: number }): Variable<number> {
  return {
    name,
    fallback: range.fallback?.toString(),
    parse(value) {
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= range.min && number <= range.max)) {
        throw new Error(`must be a whole number from ${range.min} to ${range.max}`);
      }
      return number;
    },
  };
}

/** Milliseconds for which a process serves requests after the signal to stop. */
export const drain = integer('DRAIN_MS', { min: 0, max: 8_000, fallback: 0 });

/** Defines a variable with a fraction from 0 to 1. */
export function share(name: string, fallback: number): Variable<number> {
  return {
    name,
    fallback: String(fallback),
    parse(value) {
      const part = /^\d?(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
      if (!(part >= 0 && part <= 1)) throw new Error('must be a share from 0 to 1, such as 0.01');
      return part;
    },
  };
}

/** Defines a variable with one of a closed list of words. */
export function oneOf<const T extends string>(name: string, words: readonly T[], fallback?: T): Variable<T> {
  return {
    name,
    fallback,
    parse(value) {
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
      return word;
    },
  };
}

/**
 * Returns the part of a URL that contains no password: undefined without a scheme, the scheme of a URL with a user or
 * with parameters, and all of any other URL.
 */
export function withoutPassword(text: string): string | undefined {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  return scheme === undefined || (URL.canParse(text) && !/[@?]/.test(text)) ? scheme && text : `${scheme}…`;
}

/**
 * Defines a variable with an absolute URL of one of the given schemes. Error messages repeat the value without its
 * password.
 */
export function url(name: string, schemes: readonly string[], fallback?: string): Variable<string> {
  return {
    name,
    fallback,
    shown: withoutPassword,
    parse(value) {
      const parsed = URL.canParse(value) ? new URL(value) : undefined;
      if (parsed === undefined || !schemes.includes(parsed.protocol.slice(0, -1))) {
        throw new Error(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
      }
      return value;
    },
  };
}

const nothing = (): undefined => undefined;

/** Defines a variable with a secret of at least 32 characters. Messages never repeat the value. */
export function secret(name: string): Variable<string> {
  return {
    name,
    fallback: undefined,
    shown: nothing,
    parse(value) {
      if (value.length < 32) throw new Error('must have at least 32 characters');
      return value;
    },
  };
}

/** The first one signs and encrypts, and all of them verify and decrypt. So one can be replaced while the shop runs. */
export type Secrets = readonly [string, ...string[]];

/** Secrets as `secret`, separated by commas. */
export function secretList(name: string): Variable<Secrets> {
  const one = secret(name);
  return {
    ...one,
    parse(value) {
      const [first = '', ...others] = value.split(',').map((part) => part.trim());
      return [one.parse(first), ...others.map(one.parse)];
    },
  };
}

/**
 * Defines a variable with symmetric keys, separated by commas, each of 32 bytes in base64url. The first key encrypts;
 * all keys decrypt.
 */
export function keyList(name: string): Variable<readonly Buffer[]> {
  return {
    name,
    fallback: undefined,
    shown: nothing,
    parse(value) {
      const keys = value.split(',').map((key) => Buffer.from(key.trim(), 'base64url'));
      if (keys.some((key) => key.length !== 32))
        throw new Error('must be a comma-separated list of 32-byte keys in base64url');
      return keys;
    },
  };
}
