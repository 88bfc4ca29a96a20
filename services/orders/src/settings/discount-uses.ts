// Counts the orders that use a discount, exactly under concurrent orders.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import type { Discount } from '../pricing/pricing.ts';

/** The account of the row that counts the orders of all accounts. */
export const allAccounts = '00000000-0000-0000-0000-000000000000';

type Counted = Pick<Discount, 'id' | 'uses' | 'usesPerAccount'>;

/**
 * Counts one use of each discount that has `uses` or `usesPerAccount`, in the transaction of the order. The rows are
 * locked in the order of their keys, so that concurrent orders never wait for each other in a circle.
 * @returns the first discount that is used up; the caller has to roll the transaction back then
 */
export async function countUse<Each extends Counted>(
  tx: Transaction,
  discounts: readonly Each[],
  accountId: string,
): Promise<Each | undefined> {
  for (const discount of [...discounts].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (!isLimited(discount)) continue;
    const { id, uses = Number.MAX_SAFE_INTEGER, usesPerAccount } = discount;
    if (!(await countOne(tx, id, allAccounts, uses))) return discount;
    if (usesPerAccount !== undefined && !(await countOne(tx, id, accountId, usesPerAccount))) return discount;
  }
  return undefined;
}

/** Returns false when the row has reached its maximum. */
async function countOne(tx: Transaction, discountId: string, accountId: string, maximum: number): Promise<boolean> {
  const counted = await sql(
    tx,
    `INSERT INTO discount_uses AS present (discount_id, account_id, used) VALUES ($1, $2, 1)
     ON CONFLICT (discount_id, account_id) DO UPDATE SET used = present.used + 1 WHERE present.used < $3
     RETURNING used`,
    [discountId, accountId, maximum],
  );
  return counted.length > 0;
}

/**
 * Takes back what `countUse` counted for one order. Discounts without a bound have no rows and are ignored. The caller
 * calls it once for each order.
 */
export async function giveBackUse(tx: Transaction, discountIds: readonly string[], accountId: string): Promise<void> {
  if (discountIds.length === 0) return;
  await sql(
    tx,
    `UPDATE discount_uses AS present SET used = present.used - 1
     FROM (SELECT discount_id, account_id FROM discount_uses
           WHERE discount_id = ANY($1::uuid[]) AND account_id IN ($2, '${allAccounts}')
           ORDER BY discount_id, account_id FOR UPDATE) AS locked
     WHERE present.discount_id = locked.discount_id AND present.account_id = locked.account_id AND present.used > 0`,
    [discountIds, accountId],
  );
}

/** Returns whether the uses of a discount are counted. */
export function isLimited({ uses, usesPerAccount }: Counted): boolean {
  return uses !== undefined || usesPerAccount !== undefined;
}

/** Returns the ids of the discounts that are used up, by the account or by all. */
export async function findUsedUp(
  { pool }: Pick<Database, 'pool'>,
  discounts: readonly Counted[],
  accountId: string | undefined,
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string; accountId: string; used: number }>({
    name: 'discount-uses',
    text: `SELECT discount_id AS id, account_id AS "accountId", used FROM discount_uses
           WHERE discount_id = ANY ($1::uuid[]) AND account_id = ANY ($2::uuid[])`,
    values: [discounts.map(({ id }) => id), [allAccounts, ...(accountId === undefined ? [] : [accountId])]],
  });
  const usedUp = discounts.filter(({ id, uses = Infinity, usesPerAccount = Infinity }) =>
    rows.some((row) => row.id === id && row.used >= (row.accountId === allAccounts ? uses : usesPerAccount)),
  );
  return new Set(usedUp.map(({ id }) => id));
}
