// Refresh tokens: opaque, stored as digests, each valid for one use. All tokens that descend from one log-in form a
// family, which clients see as a session.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { sql, type Transaction } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import type { SessionClient } from '../account/session-client.ts';
import { endSessions } from './ended-session.ts';

/** A token, and the id of its family. */
export interface RefreshToken {
  readonly token: string;
  readonly sessionId: string;
}

/** The outcome of a renewal. */
export type Rotation =
  | (RefreshToken & {
      readonly outcome: 'rotated';
      readonly accountId: string;
      /** The time of the log-in in seconds since 1970. */
      readonly authTime: number;
    })
  | { readonly outcome: 'reused'; readonly accountId: string }
  | { readonly outcome: 'unknown' };

const tokenBytes = 32;
/** Seconds for which a used token returns the same new token, because the first response may have been lost. */
const repeatSeconds = 60;

/** How long refresh tokens are valid, in days. */
export interface RefreshLifetimes {
  /** Days after which an unused token expires. */
  readonly refreshTokenDays: number;
  /** All tokens of one log-in, however often they are renewed. */
  readonly refreshFamilyDays: number;
}

/** The expiry of a family after this use. */
const expiry = "least(now() + $2 * interval '1 day', created_at + $3 * interval '1 day')";

/**
 * Returns the first token of a new family. The caller has locked the account, so that no change of its password is
 * concurrent.
 */
export async function startFamily(
  tx: Transaction,
  accountId: string,
  client: SessionClient,
  lifetimes: RefreshLifetimes,
): Promise<RefreshToken> {
  const { refreshTokenDays, refreshFamilyDays } = lifetimes;
  const sessionId = newId();
  await sql(
    tx,
    `INSERT INTO refresh_families (id, account_id, expires_at, address, user_agent)
     VALUES ($1, $2, now() + $3 * interval '1 day', $4, $5)`,
    [sessionId, accountId, Math.min(refreshTokenDays, refreshFamilyDays), client.address, client.userAgent],
  );
  const token = randomBytes(tokenBytes).toString('base64url');
  await insertToken(tx, token, sessionId);
  return { token, sessionId };
}

/**
 * Replaces a token with a new one. A retry within 60 s returns the same new token while it is unused, because the first
 * response may have been lost. Any other use of a used token revokes the family (RFC 9700 section 4.14.2), because the
 * token was stolen. The transaction must commit even when the token is rejected, because it stores the revocation.
 */
export async function rotate(
  tx: Transaction,
  token: string,
  client: SessionClient,
  lifetimes: RefreshLifetimes,
): Promise<Rotation> {
  const digest = digestOf(token);
  const family = await lockFamily(tx, digest);
  if (family === undefined) return { outcome: 'unknown' };
  const { id, accountId, expired, authTime } = family;
  const successor = createHmac('sha256', family.successorKey).update(token).digest('base64url');
  // Read after the lock, because another request may have used the token while this one waited for the family.
  const used = await sql(
    tx,
    'UPDATE refresh_tokens SET used_at = now() WHERE digest = $1 AND used_at IS NULL RETURNING digest',
    [digest],
  );
  if (used.length > 0) {
    if (expired) return { outcome: 'unknown' };
    await insertToken(tx, successor, id);
  } else if (expired || !(await mayRepeat(tx, digest, digestOf(successor)))) {
    await endSessions(tx, 'id = $1', [id]);
    return { outcome: 'reused', accountId };
  }
  const { refreshTokenDays, refreshFamilyDays } = lifetimes;
  await sql(
    tx,
    `UPDATE refresh_families SET expires_at = ${expiry}, last_used_at = now(), address = $4, user_agent = $5
     WHERE id = $1`,
    [id, refreshTokenDays, refreshFamilyDays, client.address, client.userAgent],
  );
  return { outcome: 'rotated', accountId, sessionId: id, token: successor, authTime };
}

/** Returns whether a token was used a short time ago and its new token is unused. */
async function mayRepeat(tx: Transaction, digest: string, successorDigest: string): Promise<boolean> {
  const [found] = await sql(
    tx,
    `SELECT FROM refresh_tokens AS used, refresh_tokens AS successor
     WHERE used.digest = $1 AND used.used_at > clock_timestamp() - $3 * interval '1 second'
       AND successor.digest = $2 AND successor.used_at IS NULL`,
    [digest, successorDigest, repeatSeconds],
  );
  return found !== undefined;
}

/** Revokes the family of a used or unused token. An unknown token has no effect. */
export async function endFamily(tx: Transaction, token: string): Promise<void> {
  const family = await lockFamily(tx, digestOf(token));
  if (family !== undefined) await endSessions(tx, 'id = $1', [family.id]);
}

/**
 * Revokes a family of the account.
 * @returns the number of revoked families: 1 or 0
 */
export function endFamilyById(tx: Transaction, accountId: string, id: string): Promise<number> {
  return endSessions(tx, 'id = $1 AND account_id = $2', [id, accountId]);
}

/**
 * Revokes all families of the account. The caller has locked the row of the account.
 * @param kept the id of a family that is not revoked
 * @returns the number of revoked families
 */
export function endAllFamilies(tx: Transaction, accountId: string, kept?: string): Promise<number> {
  return endSessions(tx, 'account_id = $1 AND id::text IS DISTINCT FROM $2', [accountId, kept ?? null]);
}

interface Family {
  readonly id: string;
  readonly accountId: string;
  readonly expired: boolean;
  readonly successorKey: Buffer;
  readonly authTime: number;
}

async function lockFamily(tx: Transaction, digest: string): Promise<Family | undefined> {
  const [family] = await sql<Family>(
    tx,
    `SELECT id, account_id AS "accountId", expires_at <= now() AS expired, successor_key AS "successorKey",
       floor(extract(epoch FROM created_at))::float8 AS "authTime"
     FROM refresh_families
     WHERE id = (SELECT family_id FROM refresh_tokens WHERE digest = $1) FOR UPDATE`,
    [digest],
  );
  return family;
}

async function insertToken(tx: Transaction, token: string, familyId: string): Promise<void> {
  await sql(tx, 'INSERT INTO refresh_tokens (digest, family_id) VALUES ($1, $2)', [digestOf(token), familyId]);
}

/** Returns a plain digest. It is sufficient, because a token has 256 random bits. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
