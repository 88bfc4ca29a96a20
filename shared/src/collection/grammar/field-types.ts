// The types of fields: how values are read from a query or a body, sent to PostgreSQL, and written as JSON.
import { parseId } from '../../runtime/index.ts';

/** A checked value. Decimals are scaled integers. Times are RFC 3339 strings in UTC with milliseconds. */
export type Value = string | number;

export interface FieldType {
  /** The PostgreSQL type of a parameter that is compared with the column. */
  readonly cast: 'bigint' | 'text' | 'timestamptz' | 'uuid' | 'boolean' | 'json';
  /** The rest of the sentence "must be …". */
  readonly expects: string;
  /** All values, if the type has a closed list of them. */
  readonly values?: readonly string[];
  /** Parses a value of a query string; undefined when it is not a value of this type. */
  fromText(text: string): Value | undefined;
  /** Reads the value of a JSON body; undefined when it is not a value of this type. */
  fromJson(json: unknown): Value | undefined;
  toText(value: Value): string;
  toJson(value: Value): unknown;
  /** Converts a column as PostgreSQL prints it into JSON text. */
  write(column: string): string;
}

const decimalText = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;
const maximumDigits = 15;

/**
 * Defines exact decimal numbers with at most `scale` digits after the point and `15 - scale` before it. They are stored
 * as integers of the smallest unit, so binary fractions are not involved. A query contains plain digits. A body may
 * contain any JSON number, because parseBody rejects numbers that a double would round.
 */
export function decimal(scale: number): FieldType {
  const fromText = (text: string): number | undefined => {
    if (text.length > maximumDigits + 2) return undefined;
    const match = decimalText.exec(text);
    if (!match) return undefined;
    const [, sign = '', whole = '', fraction = ''] = match;
    if (fraction.length > scale || whole.length + scale > maximumDigits) return undefined;
    const units = Number(whole + fraction.padEnd(scale, '0'));
    return sign === '-' && units !== 0 ? -units : units;
  };
  const toText = (value: Value) => writeDecimal(String(value), scale);
  return {
    cast: 'bigint',
    expects:
      scale === 0
        ? `a whole number of at most ${maximumDigits} digits`
        : `a number with at most ${maximumDigits - scale} digits before the point and ${scale} after it, such as ${(9.5).toFixed(scale)}`,
    fromText,
    fromJson: (json) => (typeof json === 'number' ? fromText(String(json)) : undefined),
    toText,
    toJson: (value) => Number(toText(value)),
    write: (column) => writeDecimal(column, scale),
  };
}

/** `1990` at scale 2 → `19.90`. */
function writeDecimal(units: string, scale: number): string {
  if (scale === 0) return units;
  if (units.length > scale && !units.startsWith('-')) return `${units.slice(0, -scale)}.${units.slice(-scale)}`;
  const negative = units.startsWith('-');
  const digits = (negative ? units.slice(1) : units).padStart(scale + 1, '0');
  return `${negative ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Strings in NFC with at most `maximum` code points, without NUL and lone surrogates. */
export function text(maximum: number): FieldType {
  const read = (json: unknown): string | undefined => {
    if (typeof json !== 'string' || json.length > 2 * maximum || json.includes('\0') || !json.isWellFormed())
      return undefined;
    const value = json.normalize('NFC');
    return value.length <= maximum || [...value].length <= maximum ? value : undefined;
  };
  return {
    cast: 'text',
    expects: `text of at most ${maximum} characters, without NUL and lone surrogates`,
    fromText: read,
    fromJson: read,
    toText: String,
    toJson: (value) => value,
    write: JSON.stringify,
  };
}

/** Defines a closed list of words. */
export function choice(values: readonly string[]): FieldType {
  const read = (json: unknown) => (typeof json === 'string' && values.includes(json) ? json : undefined);
  const written = new Map(values.map((value) => [value, JSON.stringify(value)]));
  return {
    cast: 'text',
    expects: `one of ${values.join(', ')}`,
    values,
    fromText: read,
    fromJson: read,
    toText: String,
    toJson: (value) => value,
    write: (column) => written.get(column) ?? JSON.stringify(column),
  };
}

const timeText =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,3})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/;

/** Defines a time in RFC 3339 with at most milliseconds. Any offset is accepted; the output is in UTC. */
export function time(): FieldType {
  const read = (json: unknown): string | undefined => {
    if (typeof json !== 'string' || json.length > 29 || !timeText.test(json)) return undefined;
    const moment = new Date(json);
    if (Number.isNaN(moment.getTime()) || !existsInCalendar(json)) return undefined;
    const utc = moment.toISOString();
    return utc.length === 24 && !utc.startsWith('0000') ? utc : undefined;
  };
  return {
    cast: 'timestamptz',
    expects: 'a time as in RFC 3339 with at most milliseconds, such as 2026-11-21T03:00:00.000Z',
    fromText: read,
    fromJson: read,
    toText: String,
    toJson: (value) => value,
    write: writeTime,
  };
}

/** Returns whether the day exists. Date accepts 30 February and converts it to a day in March. */
function existsInCalendar(rfc3339: string): boolean {
  const day = Number(rfc3339.slice(8, 10));
  const month = Number(rfc3339.slice(5, 7));
  const rolled = new Date(`${rfc3339.slice(0, 10)}T00:00:00Z`);
  return rolled.getUTCDate() === day && rolled.getUTCMonth() + 1 === month;
}

/**
 * Converts `2026-11-21 03:00:00.12+00`, as PostgreSQL prints a timestamptz(3) in UTC, to `"2026-11-21T03:00:00.120Z"`.
 * The usual format is converted as a string, because creating a Date costs more than all other work for a row.
 */
function writeTime(column: string): string {
  const length = column.length;
  if (length < 22 || length > 26 || !column.endsWith('+00')) return JSON.stringify(new Date(column).toISOString());
  const clock =
    length === 26 ? column.slice(11, 23) : `${column.slice(11, 19)}${column.slice(19, -3) || '.'}`.padEnd(12, '0');
  return `"${column.slice(0, 10)}T${clock}Z"`;
}

/** Defines a UUID, which is read without regard to case. */
export function uuid(): FieldType {
  const read = (json: unknown) => (typeof json === 'string' ? parseId(json) : undefined);
  return {
    cast: 'uuid',
    expects: 'a UUID',
    fromText: read,
    fromJson: read,
    toText: String,
    toJson: (value) => value,
    write: (column) => `"${column}"`,
  };
}

const unfiltered = {
  expects: 'absent: this field takes no conditions',
  fromText: () => undefined,
  fromJson: () => undefined,
  toText: String,
  toJson: (value: Value) => value,
} as const;

const truths = ['true', 'false'];

/** Defines a boolean. PostgreSQL prints `t`, or `true` after a cast. */
export function boolean(): FieldType {
  return {
    cast: 'boolean',
    expects: 'true or false',
    values: truths,
    fromText: (text) => (truths.includes(text) ? text : undefined),
    fromJson: (json) => (typeof json === 'boolean' ? String(json) : undefined),
    toText: String,
    toJson: (value) => value === 'true',
    write: (column) => (column.startsWith('t') ? 'true' : 'false'),
  };
}

/** A string literal, or blanks between the tokens of a JSON text. */
const stringOrBlanks = /("(?:[^"\\]|\\.)*"?)|[ \n]+/g;

/**
 * Defines a column of JSON text. It is written without the blanks that PostgreSQL adds (`{"a" : 1}` as json, `{"a": 1}`
 * as jsonb), because all other members have no blanks.
 */
export function json(): FieldType {
  return { ...unfiltered, cast: 'json', write: (column) => column.replace(stringOrBlanks, '$1') };
}
