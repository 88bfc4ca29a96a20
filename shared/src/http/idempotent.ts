// Idempotency keys: the key, the effect and the response commit together, so a retry has no second effect.
import { createHash, createHmac } from 'node:crypto';
import { type Database, type Expiry, sql, type Transaction } from '../database/index.ts';
import { canonicalJson } from '../json/index.ts';
import { Problem, problemDocument, problemMediaType } from '../problem/index.ts';
import type { Secrets } from '../runtime/index.ts';
import type { OperationRequest, Result } from './operation.ts';

export interface IdempotencyContext {
  readonly database: Database;
  /**
   * The secrets that key the fingerprints of requests, so that a stored fingerprint reveals nothing about a password in
   * the request. A new fingerprint has the first one.
   */
  readonly idempotencySecrets: Secrets;
}

interface Fingerprints {
  /** The fingerprint of the body as it was written, by which processes of the previous release compare requests. */
  readonly fingerprint: string;
  /** The fingerprint of the canonical body, so that the order of members makes no difference. */
  readonly canonicalFingerprint: string;
}

interface StoredAnswer {
  readonly fingerprint: string;
  /** Null when a process of the previous release stored the response. */
  readonly canonicalFingerprint: string | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string | null;
  readonly body: string | null;
}

/** Hours for which a response is stored. The SQL function `claim_idempotency_key` uses the same period. */
const keptHours = 24;

/**
 * Returns a stored response, and writes it again without a change. The commit that stored it cannot be lost any more,
 * because this statement commits later. Reading alone is not sufficient with synchronous replication: a primary without
 * its standbys stores a commit, never confirms it, and shows it when it restarts as a standby.
 */
const confirmKept = `
  UPDATE idempotency_keys SET created_at = created_at
  WHERE account_id = $1 AND operation_id = $2 AND key = $3 AND created_at > now() - interval '${keptHours} hours'
  RETURNING fingerprint, canonical_fingerprint AS "canonicalFingerprint", status, headers, etag, body`;

/** The statuses of stored error responses. After any other error, the corrected request may use the same key. */
const keptRefusals: ReadonlySet<number> = new Set([409, 422]);

/**
 * The maximum number of stored error responses of an account. A rejected request had no effect, so a retry after this
 * many newer errors is processed again.
 */
const mostRefusals = 100;
/** The maximum length of a stored error response; a retry after a longer one is processed again. */
const longestRefusal = 16_384;

/**
 * Runs `work` in one transaction. With an `Idempotency-Key` header, the response is stored for 24 hours per account,
 * operation and key, and a retry gets it again with `Idempotency-Replayed: true`. A 409 or 422 that `work` throws is
 * stored, too, after its effects were rolled back; a replay has the `instance` of the present request. Other errors are
 * not stored.
 * @throws Problem 422 for the same key with another request, 409 while the first request is still running
 */
export async function idempotent<Body = never>(
  request: OperationRequest,
  context: IdempotencyContext,
  work: (tx: Transaction) => Promise<Result<Body>>,
): Promise<Result<Body>> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return context.database.transaction(work);
  const scope = scopeOf(request, key);
  const { idempotencySecrets: secrets } = context;
  const answer = (run: (tx: Transaction) => Promise<Result<Body>>): Promise<Result<Body>> =>
    context.database.transaction(async (tx) => {
      const stored = await claim(tx, scope);
      if (stored !== undefined) return replay(stored, request, secrets);
      const result = await run(tx);
      await keep(tx, scope, fingerprintsOf(request, secrets[0]), result);
      return result;
    });
  let refusal: Problem | undefined;
  try {
    return await answer(async (tx) => {
      try {
        return await work(tx);
      } catch (error) {
        if (error instanceof Problem && keptRefusals.has(error.status)) refusal = error;
        throw error;
      }
    });
  } catch (error) {
    if (refusal === undefined || error !== refusal) throw error;
    // The effects are rolled back, so the problem is stored in a separate transaction, unless a concurrent retry has
    // stored a response meanwhile.
    const result = problemResult(refusal, request);
    if ((result.json?.length ?? 0) > longestRefusal) return result;
    return answer(async (tx) => {
      await dropOldRefusals(tx, scope);
      return result;
    });
  }
}

/** Returns the result with a problem, for an operation that must commit the effect of an error. */
export function problemResult(problem: Problem, request: Pick<OperationRequest, 'id'>): Result {
  return {
    status: problem.status,
    headers: { 'Content-Type': problemMediaType, ...problem.headers },
    json: JSON.stringify(problemDocument(problem, request.id)),
  };
}

/**
 * Returns the stored response for the request's key before any work. For work that has to run outside the transaction.
 * @throws Problem 422 for the same key with another request
 */
export async function storedResponse(
  request: OperationRequest,
  context: IdempotencyContext,
): Promise<Result | undefined> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const { rows } = await context.database.pool.query<StoredAnswer>({
    name: 'kept-answer',
    text: confirmKept,
    values: scopeOf(request, key),
  });
  return rows[0] && replay(rows[0], request, context.idempotencySecrets);
}

function scopeOf(request: OperationRequest, key: string): string[] {
  return [request.caller?.accountId ?? 'anonymous', request.operationId, key];
}

/**
 * Returns both fingerprints. The canonical one contains the other, so that it is invalid for a row that another process
 * replaced.
 */
function fingerprintsOf(request: OperationRequest, secret: string, stored?: string): Fingerprints {
  const body = Buffer.isBuffer(request.body) ? createHash('sha256').update(request.body).digest('hex') : request.body;
  const content = [request.method, request.url, body ?? null];
  const sign = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url');
  const fingerprint = sign(JSON.stringify(content));
  return { fingerprint, canonicalFingerprint: sign(canonicalJson([...content, stored ?? fingerprint])) };
}

function isSameRequest(stored: StoredAnswer, request: OperationRequest, secrets: Secrets): boolean {
  return secrets.some((secret) => {
    const { fingerprint, canonicalFingerprint } = fingerprintsOf(request, secret, stored.fingerprint);
    return fingerprint === stored.fingerprint || canonicalFingerprint === stored.canonicalFingerprint;
  });
}

/**
 * Locks the key until the transaction ends, and reads its row. A stored response may be returned after the COMMIT.
 * @throws Problem 409 when another request has the lock
 */
async function claim(tx: Transaction, scope: readonly string[]): Promise<StoredAnswer | undefined> {
  const [claimed] = await sql<{ locked: boolean; fingerprint: string | null }>(
    tx,
    'SELECT locked, fingerprint FROM claim_idempotency_key($1, $2, $3)',
    scope,
  );
  if (claimed?.locked !== true) {
    throw new Problem('request-in-progress', 'The first request with this Idempotency-Key is still running.', {
      headers: { 'Retry-After': '1' },
    });
  }
  if (claimed.fingerprint === null) return undefined;
  const [stored] = await sql<StoredAnswer>(tx, confirmKept, scope);
  return stored;
}

function replay(stored: StoredAnswer, request: OperationRequest, secrets: Secrets): Result {
  if (!isSameRequest(stored, request, secrets)) {
    throw new Problem('idempotency-key-reused', 'This Idempotency-Key was used for another request. Use a new key.', {
      errors: [{ header: 'Idempotency-Key', detail: 'belongs to another request' }],
    });
  }
  return {
    status: stored.status,
    headers: { ...stored.headers, 'Idempotency-Replayed': 'true' },
    ...(stored.etag === null ? {} : { etag: stored.etag }),
    ...(stored.body === null ? {} : { json: isRefusal(stored) ? withInstance(stored.body, request.id) : stored.body }),
  };
}

function isRefusal({ headers }: StoredAnswer): boolean {
  return headers['Content-Type'] === problemMediaType;
}

/**
 * Returns a stored problem document with the id of the present request, because `instance` and `X-Request-Id` of a
 * response are the same.
 */
function withInstance(document: string, instance: string): string {
  return JSON.stringify({ ...(JSON.parse(document) as object), instance });
}

async function keep(
  tx: Transaction,
  scope: readonly string[],
  { fingerprint, canonicalFingerprint }: Fingerprints,
  result: Result<unknown>,
): Promise<void> {
  const body = result.json ?? (result.body === undefined ? null : JSON.stringify(result.body));
  await sql(
    tx,
    `INSERT INTO idempotency_keys
       (account_id, operation_id, key, fingerprint, canonical_fingerprint, status, headers, etag, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (account_id, operation_id, key) DO UPDATE SET
       fingerprint = excluded.fingerprint, canonical_fingerprint = excluded.canonical_fingerprint, status = excluded.status, headers = excluded.headers,
       etag = excluded.etag, body = excluded.body, created_at = now()`,
    [
      ...scope,
      fingerprint,
      canonicalFingerprint,
      result.status,
      JSON.stringify(result.headers ?? {}),
      result.etag ?? null,
      body,
    ],
  );
}

/** Deletes old error responses of the account. Rows that another transaction has locked are skipped. */
async function dropOldRefusals(tx: Transaction, [accountId = '']: readonly string[]): Promise<void> {
  await sql(
    tx,
    `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM idempotency_keys WHERE account_id = $1 AND status >= 400
       ORDER BY created_at DESC OFFSET ${mostRefusals} - 1 FOR UPDATE SKIP LOCKED
     ))`,
    [accountId],
  );
}

/** The expired stored responses. */
export const expiredResponses: Expiry = { table: 'idempotency_keys', since: 'created_at', hours: keptHours };
