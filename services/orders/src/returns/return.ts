// A return: the functions that read it, and how its callers see it.
import type { Caller } from '@shop/shared/auth';
import { type Collection, type Cursors, openCollection, selectAll, writeAll } from '@shop/shared/collection';
import { sql, type Transaction } from '@shop/shared/database';
import { type OperationRequest, type Result, requireMatch, toEtag, toWeakEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { components } from '../generated.ts';
import { type LockedOrder, lockOrder } from '../order/order.ts';
import { returnSpec } from './return-spec.ts';
import type { ReturnStatus } from './return-status.ts';

export type ReturnLine = components['schemas']['ReturnLine'];

/** Returns as the operations use them. */
export interface Returns {
  readonly lists: Readonly<Record<'account' | 'all', Collection<Caller>>>;
  /** The SELECT list of a whole return: its members as JSON text, then its version. */
  readonly columns: string;
  /** Returns the response for a row of `columns`. */
  result(caller: Caller, status: number, row: object, headers?: Readonly<Record<string, string>>): Result;
}

export function openReturns(currency: string, cursors: Cursors): Returns {
  const specs = { account: returnSpec(currency, 'account'), all: returnSpec(currency, 'all') };
  const write = writeAll(specs.all);
  return {
    lists: { account: openCollection(specs.account, cursors), all: openCollection(specs.all, cursors) },
    columns: `${selectAll(specs.all)}, version::text AS version`,
    result: (caller, status, row, headers = {}) => {
      const values: (string | null)[] = Object.values(row);
      return { status, headers, etag: toWeakEtag(values.at(-1) ?? ''), json: write(values, caller) };
    },
  };
}

/** Returns the present return, in a transaction that has locked or inserted it. */
export async function showReturn(
  tx: Transaction,
  { columns, result }: Returns,
  caller: Caller,
  { id, accountId }: { readonly id: string; readonly accountId: string },
): Promise<Result> {
  const [row] = await sql(tx, `SELECT ${columns} FROM returns WHERE id = $1 AND account_id = $2`, [id, accountId]);
  return result(caller, 200, row ?? {});
}

export interface LockedReturn {
  readonly id: string;
  readonly accountId: string;
  readonly status: ReturnStatus;
  readonly version: number;
  readonly lines: readonly ReturnLine[];
  readonly order: LockedOrder;
}

/**
 * Locks a return and its order until the transaction ends. The order is locked first, as in every transaction.
 * @param owner the account that it must belong to; undefined for staff
 * @throws Problem 404, the same for a return that does not exist and for a return of another account
 */
export async function lockReturn(tx: Transaction, id: string, owner: string | undefined): Promise<LockedReturn> {
  const [found] = await sql<{ orderId: string; accountId: string }>(
    tx,
    `SELECT order_id AS "orderId", account_id AS "accountId" FROM returns
     WHERE id = $1 AND ($2::uuid IS NULL OR account_id = $2)`,
    [id, owner ?? null],
  );
  if (found === undefined) throw noSuchReturn();
  const { orderId, accountId } = found;
  const order = await lockOrder(tx, orderId, accountId);
  const [locked] = await sql<Omit<LockedReturn, 'order'>>(
    tx,
    `SELECT id, account_id AS "accountId", status, version, lines FROM returns
     WHERE id = $1 AND account_id = $2 FOR UPDATE`,
    [id, accountId],
  );
  if (locked === undefined) throw noSuchReturn();
  return { ...locked, order };
}

/**
 * Returns the text, or null when the account is erased: its data was removed, and no e-mail is sent to it.
 * @param text by the customer, or for the customer
 */
export async function textFor(tx: Transaction, accountId: string, text: string | undefined): Promise<string | null> {
  const erased = await sql(tx, 'SELECT FROM erased_accounts WHERE account_id = $1', [accountId]);
  return erased.length > 0 ? null : (text ?? null);
}

/** @throws Problem 412 when `If-Match` names another version of the return */
export function requireReturnVersion({ headers }: OperationRequest, { version }: LockedReturn): void {
  requireMatch(headers, toWeakEtag(version), toEtag(version));
}

export function noSuchReturn(): Problem {
  return new Problem('not-found', 'There is no return with this id.');
}
