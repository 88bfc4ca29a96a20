// Erases the accounts that are due for erasure, and notifies the other services.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { requestIdentity } from '@shop/shared/http';
import { type Log, startRepeating } from '@shop/shared/runtime';
import { type Erased, recordErasure } from '@shop/shared/service';
import { type AccountDetails, detailColumns, toDetails } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { erasureNotice, isAnswerToRegistration } from '../account/erasure.ts';
import { endAllFamilies } from '../session/refresh-token.ts';

export interface ErasingOptions {
  readonly database: Database;
  readonly log: Log;
}

const lookEvery = 10_000;
/**
 * Minutes between the last log-in and the erasure. By then all requests of the account have ended, so nothing is
 * created for it after its erasure.
 */
const quietMinutes = 60;

/** Starts the loop; any number of replicas may run it. The returned function stops it after the account in progress. */
export function startErasingAccounts({ database, log }: ErasingOptions): () => Promise<void> {
  return startRepeating(
    lookEvery,
    async (signal) => {
      while (!signal.aborted && (await remindOne(database))) {}
      while (!signal.aborted && (await endSessionsOfOne(database))) {}
      while (!signal.aborted && (await eraseOne(database, log))) {}
    },
    (error) => log.warn({ err: error }, 'accounts wait to be erased'),
  );
}

/**
 * Sends another notice to an account a day before its erasure. The event has the present version of the account.
 * Returns whether such an account was found.
 */
function remindOne(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [due] = await sql<AccountDetails & { readonly version: number; readonly eraseAt: Date }>(
      tx,
      `UPDATE accounts SET reminded_erase_at = erase_at WHERE id = (
         SELECT id FROM accounts WHERE erase_at > now() AND erase_at <= now() + interval '1 day'
           AND reminded_erase_at IS DISTINCT FROM erase_at
         ORDER BY erase_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING ${detailColumns}, version,
         erase_at AS "eraseAt"`,
    );
    if (due === undefined) return false;
    const notice = await erasureNotice(tx, due, due.eraseAt);
    const { id: requestId, traceparent } = requestIdentity({});
    await appendEvent(tx, {
      type: 'account.updated.v1',
      subject: due.id,
      sequence: due.version,
      data: { ...toDetails(due), ...notice, erasureReminder: true },
      requestId,
      traceparent,
    });
    return true;
  });
}

/** Revokes the sessions of an account that is due for erasure. Returns whether such an account was found. */
function endSessionsOfOne(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [due] = await sql<{ id: string }>(
      tx,
      `SELECT id FROM accounts WHERE erase_at <= now()
         AND EXISTS (SELECT FROM refresh_families WHERE account_id = accounts.id)
       ORDER BY erase_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    );
    if (due === undefined) return false;
    await endAllFamilies(tx, due.id);
    return true;
  });
}

/** Erases an account that is due, with its tokens and sessions. Returns whether there was such an account. */
function eraseOne(database: Database, log: Log): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [erased] = await sql<{ id: string; version: number; now: Date }>(
      tx,
      `DELETE FROM accounts WHERE id = (
         SELECT id FROM accounts WHERE erase_at < now() - $1 * interval '1 minute'
         ORDER BY erase_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING id, version, now() AS now`,
      [quietMinutes],
    );
    if (erased === undefined) return false;
    const { id: accountId, version, now } = erased;
    const { id: requestId, traceparent } = requestIdentity({});
    await recordErasure(tx, accountId);
    await audit(tx, { action: 'account-erased', accountId, requestId, detail: {} });
    await appendEvent(tx, {
      type: 'account.erased.v1',
      subject: accountId,
      sequence: version + 1,
      data: { accountId, erasedAt: now.toISOString() },
      requestId,
      traceparent,
    });
    log.info({ account: accountId }, 'account erased');
    return true;
  });
}

/**
 * Erases personal data outside the row of the account: addresses and reasons in the audit log, and events about the
 * account.
 */
export async function eraseTraces(tx: Transaction, accountId: string): Promise<Erased> {
  await sql(
    tx,
    `UPDATE audit_log SET detail = '{}', reason = NULL
     WHERE account_id = $1 AND (detail <> '{}' OR reason IS NOT NULL)`,
    [accountId],
  );
  await sql(tx, `DELETE FROM idempotency_keys WHERE ${isAnswerToRegistration}`, [accountId]);
  await sql(tx, "DELETE FROM outbox WHERE subject = $1 AND published_at IS NOT NULL AND type <> 'account.erased.v1'", [
    accountId,
  ]);
  const waiting = await sql(
    tx,
    "SELECT FROM outbox WHERE subject = $1 AND published_at IS NULL AND type <> 'account.erased.v1' LIMIT 1",
    [accountId],
  );
  return waiting.length === 0 ? 'done' : 'waits';
}
