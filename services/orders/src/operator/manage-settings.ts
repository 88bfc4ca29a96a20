// Lets operators list, show, add, change and archive the settings of prices, by the rules of the API. No service has to
// run.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createCursors } from '@shop/shared/collection';
import { loadContract, refuseFaults } from '@shop/shared/contract';
import { assertCurrency, type Database, sql, type Transaction } from '@shop/shared/database';
import { requestIdentity } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { type Environment, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readCommandConfig } from '../config.ts';
import type { components } from '../generated.ts';
import {
  addSetting,
  archiveSetting,
  lockSetting,
  patchSetting,
  type SettingCause,
} from '../settings/change-setting.ts';
import { type SettingKind, settingFaults } from '../settings/setting-kinds.ts';
import { noSuchSetting, openSettings, type SettingStore } from '../settings/settings.ts';

type Schemas = components['schemas'];

/** A setting of each kind, as the API shows it. */
export interface Setting {
  readonly 'shipping-method': Schemas['ShippingMethod'];
  readonly 'tax-rate': Schemas['TaxRate'];
  readonly discount: Schemas['Discount'];
}

/**
 * Returns the settings of a kind in the order of the API.
 * @param environment the variables of orders, of which DATABASE_URL and SHOP_CURRENCY are read
 */
export function listSettings<Kind extends SettingKind>(
  environment: Environment,
  kind: Kind,
  limit: number,
): Promise<Setting[Kind][]> {
  return withSettings(environment, kind, async ({ pool }, store) => {
    const { from, defaultSort } = store.collection.spec;
    const order = defaultSort.map(({ field }) => field).join(', ');
    const text = `SELECT ${store.columns} FROM ${from} ORDER BY ${order} LIMIT $1`;
    const { rows } = await pool.query<object>(text, [limit]);
    return rows.map((row) => viewOf<Kind>(store, row));
  });
}

/** Returns undefined for an unknown id, and for an archived setting. */
export function findSetting<Kind extends SettingKind>(
  environment: Environment,
  kind: Kind,
  id: string,
): Promise<Setting[Kind] | undefined> {
  return withSettings(environment, kind, async ({ pool }, store) => {
    const { rows } = await pool.query<object>(store.selectOne, [id]);
    return rows[0] && viewOf<Kind>(store, rows[0]);
  });
}

/** @throws StartError with all faults, or when the discount code or the tax rate exists */
export function createSetting<Kind extends SettingKind>(
  environment: Environment,
  kind: Kind,
  body: object,
): Promise<Setting[Kind]> {
  return change(environment, kind, (tx, store, cause) => {
    refuseFaults(store.check(body), settingFaults(store, body));
    return addSetting(tx, store, cause, body);
  });
}

/**
 * Applies a merge patch (RFC 7396).
 * @throws StartError as `createSetting`, and for an unknown id
 */
export function changeSetting<Kind extends SettingKind>(
  environment: Environment,
  kind: Kind,
  id: string,
  patch: object,
): Promise<Setting[Kind]> {
  return change(environment, kind, async (tx, store, cause) => {
    const present = await lockSetting(tx, store, id);
    if (present.isArchived) throw noSuchSetting();
    await patchSetting(tx, store, cause, present, patch);
    return id;
  });
}

/**
 * Archives a setting and returns it as it was. An archived one cannot be archived again.
 * @throws StartError for an unknown id
 */
export function archiveOne<Kind extends SettingKind>(
  environment: Environment,
  kind: Kind,
  id: string,
): Promise<Setting[Kind]> {
  return withSettings(environment, kind, (database, store) =>
    database.transaction(async (tx) => {
      const present = await lockSetting(tx, store, id);
      const [row] = await sql<object>(tx, store.selectOne, [id]);
      if (row === undefined) throw noSuchSetting();
      await archiveSetting(tx, store, newCause(), present);
      return viewOf<Kind>(store, row);
    }),
  );
}

/** Runs a change that returns the id of the setting, and returns the setting. */
function change<Kind extends SettingKind>(
  environment: Environment,
  kind: Kind,
  make: (tx: Transaction, store: SettingStore, cause: SettingCause) => Promise<string>,
): Promise<Setting[Kind]> {
  return withSettings(environment, kind, (database, store) =>
    database.transaction(async (tx) => {
      const id = await make(tx, store, newCause());
      const [row = {}] = await sql<object>(tx, store.selectOne, [id]);
      return viewOf<Kind>(store, row);
    }),
  );
}

/** The history names no account for a change by an operator. */
function newCause(): SettingCause {
  return { requestId: requestIdentity({}).id, actorId: undefined };
}

function viewOf<Kind extends SettingKind>({ result }: SettingStore, row: object): Setting[Kind] {
  return JSON.parse(String(result(200, row).json)) as Setting[Kind];
}

async function withSettings<T>(
  environment: Environment,
  kind: SettingKind,
  use: (database: Database, store: SettingStore) => Promise<T>,
): Promise<T> {
  const { databaseUrl: url, currency } = readCommandConfig(environment);
  const contract = loadContract(fileURLToPath(new URL('../../openapi.yaml', import.meta.url)));
  // Operators use no cursors, so the keys may be arbitrary.
  const store = openSettings(currency, createCursors([randomBytes(32)]), contract)[kind];
  return withDatabase({ url, name: 'manage settings' }, async (database) => {
    await assertCurrency(database.pool, currency);
    return use(database, store).catch((error) => {
      throw error instanceof Problem && error.status < 500 ? new StartError(toText(error)) : error;
    });
  });
}

/** Returns the faults as a sentence that names the members. */
function toText({ code, message, errors }: Problem): string {
  const faults = errors.map(({ pointer = '', detail }) => `${pointer.slice(1).replaceAll('/', '.')} ${detail}`);
  return code === 'invalid-request' ? faults.join('; ') : [message, ...faults].join(' ');
}
