// The scopes that a new access token of an account or a machine would have.
import type { Queryable } from '@shop/shared/database';

export interface PresentScopes {
  readonly id: string;
  readonly scopes: string[];
}

/** Leaves out unknown, blocked and erased accounts, and revoked machines. */
export async function readPresentScopes(from: Queryable, callerIds: readonly string[]): Promise<PresentScopes[]> {
  const { rows } = await from.query<PresentScopes>(
    `SELECT id, scopes FROM accounts WHERE id = ANY ($1::uuid[]) AND blocked_at IS NULL
     UNION ALL
     SELECT id, scopes FROM machines WHERE id = ANY ($1::uuid[]) AND revoked_at IS NULL`,
    [callerIds],
  );
  return rows;
}
