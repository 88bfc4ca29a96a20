// The prices of the demo shop: two shipping methods, German taxes, and a discount code.
import { sql, type Transaction } from '@shop/shared/database';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { findDecimals } from '@shop/shared/shop';
import { readCommandConfig } from '../config.ts';
import { addSetting } from '../settings/change-setting.ts';
import { openSettingKinds, type SettingBodies, type SettingKind } from '../settings/setting-kinds.ts';

/** Marks the demo's settings in the history. */
const requestId = 'demo';

/** The variables of orders for which the demo's prices are meant. */
const demoVariables = { TAXES: 'included', SHOP_COUNTRY: 'DE' };

/**
 * Adds the prices of the demo to a new shop.
 * @param environment the variables of orders, of which DATABASE_URL and SHOP_CURRENCY are read
 * @returns the variables of orders for these prices; none for a shop without them, such as one of an earlier release
 */
export async function seedDemoPrices(environment: Environment): Promise<Environment> {
  const { databaseUrl: url, currency } = readCommandConfig(environment);
  return withDatabase({ url, name: 'seed' }, (database) =>
    database.transaction(async (tx) => {
      const [shop] = await sql<{ isNew: boolean; isDemo: boolean }>(
        tx,
        `SELECT NOT EXISTS (SELECT FROM pricing_settings) AND NOT EXISTS (SELECT FROM orders) AS "isNew",
           EXISTS (SELECT FROM pricing_settings_history WHERE request_id = $1) AS "isDemo"`,
        [requestId],
      );
      if (shop?.isNew === true) await addDemo(tx, currency);
      return shop?.isNew === true || shop?.isDemo === true ? demoVariables : {};
    }),
  );
}

async function addDemo(tx: Transaction, currency: string): Promise<void> {
  const kinds = openSettingKinds(currency);
  const add = <Kind extends SettingKind>(kind: Kind, body: SettingBodies[Kind]): Promise<string> =>
    addSetting(tx, { ...kinds[kind], kind }, { requestId, actorId: undefined }, body);
  const major = (minor: number): number => minor / 10 ** findDecimals(currency);
  const standard = { en: 'Standard', de: 'Standardversand', fr: 'Standard' };
  await add('shipping-method', { name: standard, price: major(490), freeFrom: major(6000), days: { from: 2, to: 4 } });
  const express = { name: { en: 'Express', de: 'Expressversand', fr: 'Express' }, countries: ['DE'], position: 1 };
  await add('shipping-method', { ...express, price: major(1290), days: { from: 1, to: 1 } });
  await add('tax-rate', { country: 'DE', rate: 19, name: 'MwSt.' });
  await add('tax-rate', { country: 'DE', category: 'reduced', rate: 7, name: 'MwSt.' });
  await add('discount', { name: 'Welcome', code: 'WELCOME10', kind: 'percent', value: 10, usesPerAccount: 1 });
}
