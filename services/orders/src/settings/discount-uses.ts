// Counts the orders that use a discount, exactly under concurrent orders.
import { sql, type Transaction } from '@shop/shared/database';
import type { Discount } from '../pricing/pricing.ts';

/** The account of the row that counts the orders of all accounts. */
export const allAccounts = '00000000-0000-0000-0000-000000000000';

type Counted = Pick<Discount, 'id' | 'uses' | 'usesPerAccount'>;

/**
 * Counts one use of each discount that has `uses` or `usesPerAccount`, in the transaction of the order. The rows are
 * locked in the order of their keys, so that concurrent orders never wait for each other in a circle.
 * @returns whether none of them was used up; otherwise the caller has to roll the transaction back
 */
export async function countUse(tx: Transaction, discounts: readonly Counted[], accountId: string): Promise<boolean> {
  const wanted = discounts
    .filter(isLimited)
    .flatMap(({ id, uses = Number.MAX_SAFE_INTEGER, usesPerAccount }) => [
      { id, account: allAccounts, maximum: uses },
      ...(usesPerAccount === undefined ? [] : [{ id, account: accountId, maximum: usesPerAccount }]),
    ]);
  if (wanted.length === 0) return true;
  const counted = await sql(
    tx,
    `WITH wanted AS (
       SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS wanted (discount_id, account_id, maximum)
     )
     INSERT INTO discount_uses AS present (discount_id, account_id, used)
     SELECT discount_id, account_id, 1 FROM wanted ORDER BY discount_id, account_id
     ON CONFLICT (discount_id, account_id) DO UPDATE SET used = present.used + 1
     WHERE present.used < (SELECT maximum FROM wanted
       WHERE wanted.discount_id = present.discount_id AND wanted.account_id = present.account_id)
     RETURNING used`,
    [wanted.map(({ id }) => id), wanted.map(({ account }) => account), wanted.map(({ maximum }) => maximum)],
  );
  return counted.length === wanted.length;
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

/** The uses of a discount, by all accounts and by one. */
export interface Uses {
  readonly used: number;
  readonly usedByAccount: number;
}

/**
 * Returns the columns of `Uses` in a SELECT list, each a subquery.
 * @param discountId an SQL expression
 * @param account a parameter, which may be NULL
 */
export function usesColumns(discountId: string, account: `$${number}`): string {
  const usedBy = (accountId: string) =>
    `coalesce((SELECT used FROM discount_uses WHERE discount_id = ${discountId} AND account_id = ${accountId}::uuid), 0)`;
  return `${usedBy(`'${allAccounts}'`)} AS used, ${usedBy(account)} AS "usedByAccount"`;
}

export function isUsedUp({ uses = Infinity, usesPerAccount = Infinity }: Counted, { used, usedByAccount }: Uses) {
  return used >= uses || usedByAccount >= usesPerAccount;
}
