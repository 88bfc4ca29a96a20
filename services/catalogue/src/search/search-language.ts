// The language of the stemming and stop words in searches, for words in Latin letters.
import type { Queryable } from '@shop/shared/database';
import type { Log } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';

/** The languages of PostgreSQL with stemming that also works without accents. */
export const searchLanguages = [
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'italian',
  'norwegian',
  'portuguese',
  'spanish',
  'swedish',
] as const;

export type SearchLanguage = (typeof searchLanguages)[number];

/** Returns the language of the stored words, which is also that of each search. */
export async function storedSearchLanguage(from: Queryable): Promise<string | undefined> {
  const { rows } = await from.query<{ language: string }>(`
    SELECT substring(dictinitoption FROM 'language = ''([a-z]+)''') AS language FROM pg_ts_dict
    WHERE dictname = 'search_latin' AND dictnamespace = current_schema()::regnamespace`);
  return rows[0]?.language;
}

/** Warns when the language of the stored words differs from the setting. Searches continue in the stored language. */
export async function checkSearchLanguage(from: Queryable, wanted: SearchLanguage, log: Log): Promise<void> {
  const stored = await storedSearchLanguage(from);
  if (stored === wanted) return;
  log.warn(
    { stored, wanted },
    `SEARCH_LANGUAGE has no effect yet: run ${operatorCommand('shop', 'search rebuild')}, and restart the catalogue`,
  );
}
