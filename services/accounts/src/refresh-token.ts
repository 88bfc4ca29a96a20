// Refresh tokens: opaque, stored as digests, each valid for one use. All tokens that descend from one log-in form a
// family.
import { createHash, randomBytes } from 'node:crypto';
import { sql, type Transaction } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';

/** The outcome of presenting a token. */
export type Rotation =
  | { readonly outcome: 'rotated'; readonly accountId: string; readonly token: string }
  | { readonly outcome: 'reused'; readonly accountId: string }
  | { readonly outcome: 'unknown' };

const tokenBytes = 32;

/** How long refresh tokens are valid, in days. */
export interface RefreshLifetimes {
  /** Days after which an unused token expires. */
  readonly refreshTokenDays: number;
  /** All tokens of one log-in, however often they are renewed. */
  readonly refreshFamilyDays: number;
}

/** The end of a family that is used now. */
const expiry = "least(now() + $2 * interval '1 day', created_at + $3 * interval '1 day')";

/**
 * The first token of a new family. The caller has locked the account, so that no change of its password is concurrent.
 */
export async function startFamily(tx: Transaction, accountId: string, lifetimes: RefreshLifetimes): Promise<string> {
  const { refreshTokenDays, refreshFamilyDays } = lifetimes;
  const id = newId();
  await sql(
    tx,
    "INSERT INTO refresh_families (id, account_id, expires_at) VALUES ($1, $2, now() + $3 * interval '1 day')",
    [id, accountId, Math.min(refreshTokenDays, refreshFamilyDays)],
  );
  return insertToken(tx, id);
}

/**
 * Replaces a token with its successor. A token that was used before ends the family (RFC 9700 section 4.14.2), because
 * one of its two holders stole it. There is no grace period. Of two concurrent requests with one token, the first gets
 * a successor and the second ends the family. A client that did not receive its reply has to log in again. The
 * transaction must commit even when the token is refused, because it records the end of the family.
 */
export async function rotate(tx: Transaction, token: string, lifetimes: RefreshLifetimes): Promise<Rotation> {
  const digest = digestOf(token);
  const family = await lockFamily(tx, digest);
  if (family === undefined) return { outcome: 'unknown' };
  const { id, accountId, expired } = family;
  // Read after the lock, because another request may have used the token while this one waited for the family.
  const used = await sql(
    tx,
    'UPDATE refresh_tokens SET used_at = now() WHERE digest = $1 AND used_at IS NULL RETURNING digest',
    [digest],
  );
  if (used.length === 0) {
    await sql(tx, 'DELETE FROM refresh_families WHERE id = $1', [id]);
    return { outcome: 'reused', accountId };
  }
  if (expired) return { outcome: 'unknown' };
  const { refreshTokenDays, refreshFamilyDays } = lifetimes;
  await sql(tx, `UPDATE refresh_families SET expires_at = ${expiry} WHERE id = $1`, [
    id,
    refreshTokenDays,
    refreshFamilyDays,
  ]);
  return { outcome: 'rotated', accountId, token: await insertToken(tx, id) };
}

/** Ends the family of a used or unused token. An unknown token has no effect. */
export async function endFamily(tx: Transaction, token: string): Promise<void> {
  const family = await lockFamily(tx, digestOf(token));
  if (family !== undefined) await sql(tx, 'DELETE FROM refresh_families WHERE id = $1', [family.id]);
}

/** Ends all families of the account. The caller has locked the row of the account. */
export async function endAllFamilies(tx: Transaction, accountId: string): Promise<void> {
  await sql(tx, 'DELETE FROM refresh_families WHERE account_id = $1', [accountId]);
}

interface Family {
  readonly id: string;
  readonly accountId: string;
  readonly expired: boolean;
}

async function lockFamily(tx: Transaction, digest: string): Promise<Family | undefined> {
  const [family] = await sql<Family>(
    tx,
    `SELECT id, account_id AS "accountId", expires_at <= now() AS expired FROM refresh_families
     WHERE id = (SELECT family_id FROM refresh_tokens WHERE digest = $1) FOR UPDATE`,
    [digest],
  );
  return family;
}

async function insertToken(tx: Transaction, familyId: string): Promise<string> {
  const token = randomBytes(tokenBytes).toString('base64url');
  await sql(tx, 'INSERT INTO refresh_tokens (digest, family_id) VALUES ($1, $2)', [digestOf(token), familyId]);
  return token;
}

/** A plain digest is enough, because a token has 256 random bits. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
