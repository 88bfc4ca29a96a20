// The tables and triggers that the checker reads besides the shop's own.
import type pg from 'pg';
import { checkedTable } from './checked.ts';
import { handlerWatch } from './effects.ts';

/** Creates the schema `harness`. Call it before the first customer orders. */
export async function prepareChecks(admin: pg.Pool): Promise<void> {
  await admin.query(handlerWatch);
  await admin.query(checkedTable);
}
