// Counting the uses of discounts, on a real database.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '@shop/shared/database';
import { createLog, newId } from '@shop/shared/runtime';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';
import { allAccounts, countUse, giveBackUse } from '../src/settings/discount-uses.ts';

let created: TestDatabase;
let database: Database;

beforeAll(async () => {
  created = await createTestDatabase(['orders']);
  database = connectDatabase({
    url: created.urls.orders,
    name: 'discount uses',
    log: createLog('test', 'silent'),
    poolSize: 20,
  });
});
afterAll(async () => {
  await database?.close();
  await created?.drop();
});

/** Returns whether the use was counted. Otherwise nothing is, as for an order that is refused. */
async function use(discounts: Parameters<typeof countUse>[1], accountId = newId()): Promise<boolean> {
  const refused = new Error('used up');
  return database
    .transaction(async (tx) => {
      if (!(await countUse(tx, discounts, accountId))) throw refused;
      return true;
    })
    .catch((error) => {
      if (error === refused) return false;
      throw error;
    });
}

async function usedOf(discountId: string, accountId = allAccounts): Promise<number | undefined> {
  const { rows } = await database.pool.query<{ used: number }>(
    'SELECT used FROM discount_uses WHERE discount_id = $1 AND account_id = $2',
    [discountId, accountId],
  );
  return rows[0]?.used;
}

/** Runs a task so many times, 20 of them at any moment, because the pool has 20 connections. */
async function repeat<T>(times: number, task: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < times) results.push(await task(next++));
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  return results;
}

const counted = (results: readonly boolean[]): number => results.filter(Boolean).length;

describe('uses of discounts', () => {
  it('of 1,000 orders that come together with a discount of 100 uses, exactly 100 get it', async () => {
    const discount = { id: newId(), uses: 100 };
    const results = await repeat(1_000, () => use([discount]));
    expect(counted(results)).toBe(100);
    expect(await usedOf(discount.id)).toBe(100);
  });

  it('orders with two discounts in different sequences do not block each other, and a refused one counts neither', async () => {
    const [scarce, ample] = [
      { id: newId(), uses: 30 },
      { id: newId(), uses: 1_000 },
    ];
    const results = await repeat(200, (index) => use(index % 2 === 0 ? [scarce, ample] : [ample, scarce]));
    expect(counted(results)).toBe(30);
    expect([await usedOf(scarce.id), await usedOf(ample.id)]).toEqual([30, 30]);
  });

  it('an account gets a discount at most usesPerAccount times, whatever other accounts do', async () => {
    const [discount, account] = [{ id: newId(), usesPerAccount: 2 }, newId()];
    expect(counted(await repeat(20, () => use([discount], account)))).toBe(2);
    expect(await use([discount])).toBe(true);
    expect(await usedOf(discount.id, account)).toBe(2);
    expect(await usedOf(discount.id)).toBe(3);
  });

  it('countUse returns false when one of several discounts is used up, by all accounts or by the account', async () => {
    const account = newId();
    const [open, spent, own] = [
      { id: newId(), uses: 9 },
      { id: newId(), uses: 1 },
      { id: newId(), uses: 9, usesPerAccount: 1 },
    ];
    expect(await use([open, spent, own], account)).toBe(true);
    expect(await use([open, spent])).toBe(false);
    expect(await use([own, open], account)).toBe(false);
    expect(await use([own, open])).toBe(true);
    expect([await usedOf(open.id), await usedOf(spent.id), await usedOf(own.id)]).toEqual([2, 1, 2]);
    expect(await usedOf(own.id, account)).toBe(1);
  });

  it('a discount without a bound is not counted', async () => {
    const discount = { id: newId() };
    expect(await use([discount])).toBe(true);
    expect(await usedOf(discount.id)).toBeUndefined();
  });

  it('a use that is given back can be used again, also after concurrent returns', async () => {
    const [discount, account] = [{ id: newId(), uses: 50, usesPerAccount: 60 }, newId()];
    expect(counted(await repeat(60, () => use([discount], account)))).toBe(50);
    const unbounded = newId();
    await repeat(20, () => database.transaction((tx) => giveBackUse(tx, [unbounded, discount.id], account)));
    expect([await usedOf(discount.id), await usedOf(discount.id, account)]).toEqual([30, 30]);
    expect(await usedOf(unbounded)).toBeUndefined();
    expect(counted(await repeat(60, () => use([discount], account)))).toBe(20);
  });
});
