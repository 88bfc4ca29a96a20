// Checks the encoding and the locale of a database. The statements and migrations of the shop name their collations, so
// that every locale is possible. The encoding must be UTF8, because text is Unicode.
import { type Log, StartError } from '../runtime/index.ts';
import type { Queryable } from './replica-lag.ts';

export interface DatabaseLocale {
  readonly database: string;
  readonly encoding: string;
  /** The provider and the name of the locale, such as `builtin C.UTF-8`. */
  readonly locale: string;
  /** Whether the library of the locale has another version than the indexes, which may then have another order. */
  readonly isOutdated: boolean;
}

// The name of the locale is in `daticulocale` before PostgreSQL 17.
const statement = `
  SELECT datname AS database, pg_encoding_to_char(encoding) AS encoding,
    CASE datlocprovider WHEN 'b' THEN 'builtin ' WHEN 'i' THEN 'ICU ' ELSE '' END
      || coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', datctype) AS locale,
    coalesce(datcollversion <> pg_database_collation_actual_version(oid), false) AS "isOutdated"
  FROM pg_database AS d WHERE datname = current_database()`;

export async function readLocale(from: Queryable): Promise<DatabaseLocale> {
  const { rows } = await from.query<DatabaseLocale>(statement);
  const [found] = rows;
  if (found === undefined) throw new RangeError('a connection has a database');
  return found;
}

/** @returns the fault of the locale and its remedy; undefined without a fault */
export function localeFault(
  found: DatabaseLocale,
): { readonly isFatal: boolean; readonly detail: string; readonly remedy: string } | undefined {
  const { database, encoding, locale, isOutdated } = found;
  if (encoding !== 'UTF8') {
    const remedy = `create a database with ENCODING 'UTF8' TEMPLATE template0, and restore a backup of the shop into it`;
    return { isFatal: true, detail: `the database ${database} has the encoding ${encoding}`, remedy };
  }
  if (!isOutdated) return undefined;
  const detail = `the locale ${locale} of the database ${database} has changed since its indexes were made`;
  const remedy = `REINDEX DATABASE ${database}, then ALTER DATABASE ${database} REFRESH COLLATION VERSION`;
  return { isFatal: false, detail, remedy };
}

/**
 * Logs a warning when the indexes of the database may be in another order than its locale.
 * @throws StartError when the encoding of the database is not UTF8
 */
export async function checkLocale(from: Queryable, log?: Log): Promise<void> {
  const fault = localeFault(await readLocale(from));
  if (fault === undefined) return;
  const { detail, remedy, isFatal } = fault;
  if (isFatal) throw new StartError(`${detail}: ${remedy}`);
  log?.warn(`${detail}: ${remedy}`);
}
