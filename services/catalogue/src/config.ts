// Reads the environment of the catalogue service as one frozen object. All configuration errors are reported together.
import { type Environment, integer, keyList, oneOf, optional, readConfig, url } from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';
import { currency } from '@shop/shared/shop';
import { parseAttributes } from './product/attribute-filters.ts';
import { searchLanguages } from './search/search-language.ts';

const shopCurrency = currency('SHOP_CURRENCY', 'EUR');
export const searchLanguage = oneOf('SEARCH_LANGUAGE', searchLanguages, 'english');

export function readEnvironment(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    ...callerVariables,
    /** A streaming replica, or one address for several, that serves the lists of customers. See `replicaAddress`. */
    readUrl: optional(url('DATABASE_READ_URL', ['postgres', 'postgresql'])),
    /** The maximum age of the replica's data, in milliseconds. */
    readLag: integer('DATABASE_READ_LAG_MS', { min: 1_000, max: 600_000, fallback: 2_000 }),
    /** The memory for cached pages in MiB; 0 caches none. */
    pageCacheMb: integer('PAGE_CACHE_MB', { min: 0, max: 4_096, fallback: 32 }),
    cursorKeys: keyList('CURSOR_KEYS'),
    currency: shopCurrency,
    /** The attributes by which lists of products can be filtered. */
    attributes: { name: 'PRODUCT_ATTRIBUTES', fallback: '', parse: parseAttributes },
    /** The language of the stemming in searches. `shop search rebuild` applies a change. */
    searchLanguage,
    ordersUrl: url('ORDERS_URL', ['http', 'https']),
    /** Seconds for which stock is held before the orders service is asked whether the order exists. */
    reservationSeconds: integer('RESERVATION_SECONDS', { min: 1, max: 86_400, fallback: 60 }),
  });
}

/**
 * Returns the address of the replica, with the login of the service unless it contains one. So a rotation of the logins
 * replaces that of the replica, too.
 */
export function replicaAddress(readUrl: string, databaseUrl: string): string {
  const login = /^[^/]*\/\/([^@/]*@)/.exec(databaseUrl)?.[1] ?? '';
  return new URL(readUrl).username === '' ? readUrl.replace('//', () => `//${login}`) : readUrl;
}

/** Returns the configuration of the operator's functions. */
export function readCommandConfig(environment: Environment) {
  return readConfig(environment, { databaseUrl: serviceVariables.databaseUrl, currency: shopCurrency });
}
