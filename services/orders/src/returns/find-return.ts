// The response with one return, by what its caller may see.
import type { Caller } from '@shop/shared/auth';
import type { Result } from '@shop/shared/http';
import type { OrderStore } from '../context.ts';
import { isStaff } from '../order/order.ts';
import { noSuchReturn } from './return.ts';

/**
 * Returns the return as this caller sees it.
 * @throws Problem 404
 */
export async function findReturn({ database, returns }: OrderStore, caller: Caller, returnId: string): Promise<Result> {
  const readAll = isStaff(caller);
  const { rows } = await database.pool.query<Record<string, string | null>>({
    name: readAll ? 'any-return' : 'own-return',
    text: `SELECT ${returns.columns} FROM returns WHERE id = $1 ${readAll ? '' : 'AND account_id = $2'}`,
    values: readAll ? [returnId] : [returnId, caller.accountId],
  });
  const [row] = rows;
  if (row === undefined) throw noSuchReturn();
  return returns.result(caller, 200, row);
}
