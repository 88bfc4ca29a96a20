// Changes the language of the search, and computes the words of all products again.
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@shop/shared/database';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables } from '@shop/shared/service';
import type pg from 'pg';
import { searchLanguage } from '../config.ts';
import { importLock } from '../imports/import-lines.ts';
import type { SearchLanguage } from '../search/search-language.ts';

export interface RebuiltSearch {
  readonly language: SearchLanguage;
  /** The number of products with changed words. */
  readonly changed: number;
}

const changeWords = (which: string) => `
  UPDATE product_search AS kept
  SET name_words = entry.name_words, name_lexemes = entry.name_lexemes, lexemes = entry.lexemes
  FROM products AS p CROSS JOIN LATERAL search_entry(p.id, p.name, p.brand, p.category, p.description) AS entry
  WHERE kept.product_id = p.id AND ${which}
    AND (kept.name_words, kept.name_lexemes, kept.lexemes)
      IS DISTINCT FROM (entry.name_words, entry.name_lexemes, entry.lexemes)`;

/**
 * Computes the words of all products for the language in SEARCH_LANGUAGE. Searches find all products in the previous
 * language until the new words are committed in one transaction. A repeated call, also after an interruption, changes
 * only the remaining words.
 * @param environment the variables of catalogue, of which DATABASE_URL and SEARCH_LANGUAGE are read
 */
export async function rebuildSearch(environment: Environment): Promise<RebuiltSearch> {
  const { databaseUrl: url, language } = readConfig(environment, {
    databaseUrl: serviceVariables.databaseUrl,
    language: searchLanguage,
  });
  return withClient({ url, name: 'rebuild search' }, async (client) => {
    const began = await inTransaction(client, async () => {
      // The lock prevents a deadlock with an import that waits for words that are locked here, while it has locked
      // other words.
      await client.query(`SELECT pg_advisory_xact_lock(${importLock})`);
      // The language is one of a closed list.
      await client.query(`ALTER TEXT SEARCH DICTIONARY search_latin (LANGUAGE = ${language})`);
      await client.query(
        `ALTER TEXT SEARCH DICTIONARY search_stop_words (LANGUAGE = ${language}, STOPWORDS = ${language})`,
      );
      const { rows } = await client.query<{ at: string }>('SELECT now()::text AS at');
      const { rowCount } = await client.query(changeWords('true'));
      return { at: rows[0]?.at, changed: rowCount ?? 0 };
    });
    // Products that were written meanwhile may have words of the previous language. The margin is longer than any
    // transaction that writes products.
    await untilOthersEnded(client);
    const later = await inTransaction(client, async () => {
      await client.query(`SELECT pg_advisory_xact_lock(${importLock})`);
      return client.query(changeWords("p.updated_at > $1::timestamptz - interval '10 minutes'"), [began.at]);
    });
    return { language, changed: began.changed + (later.rowCount ?? 0) };
  });
}

/** Waits for the transactions that write at present, without a lock for which the sale of products would wait. */
async function untilOthersEnded(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ next: string }>('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next');
  for (;;) {
    const oldest = await client.query<{ ended: boolean }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS ended',
      [rows[0]?.next],
    );
    if (oldest.rows[0]?.ended === true) return;
    await sleep(100);
  }
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
