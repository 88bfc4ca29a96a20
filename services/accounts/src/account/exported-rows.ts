// Reads the rows that accounts stores about an account, for an export: page by page, the oldest first.
import type { Queryable } from '@shop/shared/database';
import { authorSql } from './audit.ts';

/** One page of a list, and the cursor of the next page. Without `next`, it is the last page. */
export interface Page {
  readonly items: readonly unknown[];
  readonly next?: string;
}

/** Reads the page after a cursor, or the first page. */
export type ReadPage = (after?: string) => Promise<Page>;

interface Row {
  readonly id: string;
  readonly created_at: Date;
}

const pageSize = 200;
const beforeAll = '-infinity 00000000-0000-0000-0000-000000000000';

/** The exported columns. They contain neither credentials of the customer nor ids of staff. */
const lists = {
  sessions: `SELECT id, created_at, coalesce(last_used_at, created_at) AS last_used_at, expires_at, address, user_agent
             FROM (SELECT * FROM refresh_families WHERE expires_at > now()) AS families`,
  audit: `SELECT id, created_at, action, ${authorSql} AS by, reason, detail FROM audit_log`,
} as const;

/**
 * Returns a reader of pages. A cursor is the time and the id of a row, because the row itself can be deleted before the
 * next page is read.
 */
export function exportedRows(from: Queryable, list: keyof typeof lists, accountId: string): ReadPage {
  return async (after = beforeAll) => {
    const { rows } = await from.query<Row>(
      `${lists[list]} WHERE account_id = $1 AND (created_at, id) > ($2, $3) ORDER BY created_at, id LIMIT ${pageSize}`,
      [accountId, ...after.split(' ')],
    );
    const last = rows.length < pageSize ? undefined : rows.at(-1);
    return { items: rows.map(withoutNulls), ...(last && { next: `${last.created_at.toISOString()} ${last.id}` }) };
  };
}

function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/**
 * Returns the valid tokens in e-mails, without the tokens themselves. They fit on one page, because they expire and few
 * are sent in an hour.
 */
export async function findEmailTokens(from: Queryable, accountId: string): Promise<object[]> {
  const { rows } = await from.query<object>(
    'SELECT purpose, email, created_at, expires_at FROM email_tokens WHERE account_id = $1 ORDER BY created_at',
    [accountId],
  );
  return rows;
}
