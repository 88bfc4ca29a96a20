// Machines: programs that log in with a client id and a client secret (RFC 6749 section 4.4).
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { newId, parseId } from '@shop/shared/runtime';
import { audit } from '../account/audit.ts';
import { longestTokenSeconds } from './access-token-lifetime.ts';

const secretBytes = 32;

export interface LoggedInMachine {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The session of its access tokens, which is revoked with the secret. */
  readonly sessionId: string;
}

/** Stores the digest of a new current secret. @returns the secret, which is stored nowhere */
export async function addSecret(tx: Transaction, machineId: string): Promise<string> {
  const secret = randomBytes(secretBytes).toString('base64url');
  await sql(tx, 'INSERT INTO machine_secrets (id, machine_id, digest) VALUES ($1, $2, $3)', [
    newId(),
    machineId,
    digestOf(secret).toString('base64url'),
  ]);
  return secret;
}

/**
 * Deletes secrets of the machine, and revokes the sessions of their access tokens. The caller has locked the row of the
 * machine.
 * @param which all secrets, or only those that a rotation has replaced
 */
export async function deleteSecrets(tx: Transaction, machineId: string, which: 'all' | 'former'): Promise<void> {
  await sql(
    tx,
    `WITH ended AS (
       DELETE FROM machine_secrets WHERE machine_id = $1 AND ($2 = 'all' OR expires_at IS NOT NULL)
       RETURNING id, last_used_at)
     INSERT INTO ended_sessions (session_id)
     SELECT id FROM ended WHERE last_used_at > now() - ${longestTokenSeconds} * interval '1 second'`,
    [machineId, which],
  );
}

/** @returns undefined for a wrong or expired secret, and for an unknown client id; a wrong secret is recorded */
export function logInMachine(
  database: Database,
  requestId: string,
  givenId: string,
  secret: string,
): Promise<LoggedInMachine | undefined> {
  const clientId = parseId(givenId);
  if (clientId === undefined) return Promise.resolve(undefined);
  return database.transaction(async (tx) => {
    const stored = await sql<{ id: string; digest: string; scopes: string[] }>(
      tx,
      `SELECT s.id, digest, scopes FROM machine_secrets AS s JOIN machines AS m ON m.id = machine_id
       WHERE machine_id = $1 AND (expires_at IS NULL OR expires_at > now())`,
      [clientId],
    );
    const given = digestOf(secret);
    // The secret is compared with all stored ones, each in constant time.
    const [fitting] = stored.filter(({ digest }) => timingSafeEqual(Buffer.from(digest, 'base64url'), given));
    // Updates no row when the secret was revoked meanwhile. A later revocation waits for this lock and revokes the
    // session.
    const used =
      fitting !== undefined &&
      (await sql(
        tx,
        `UPDATE machine_secrets SET last_used_at = now() WHERE id = $1 AND (expires_at IS NULL OR expires_at > now())
         RETURNING id`,
        [fitting.id],
      ));
    if (fitting !== undefined && used && used.length > 0) {
      return { clientId, scopes: fitting.scopes, sessionId: fitting.id };
    }
    if (stored.length > 0) await audit(tx, { action: 'machine-refused', accountId: clientId, requestId, detail: {} });
    return undefined;
  });
}

/** Returns an unsalted digest. It is sufficient, because a secret has 256 random bits and cannot be guessed. */
function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
