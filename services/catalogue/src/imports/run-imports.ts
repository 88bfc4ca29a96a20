// Runs the imports over HTTP one after the other, in any process of the service.
import { type Database, type Expiry, isDatabaseUnavailable, sql, type Transaction } from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';
import { linesOf } from './file-parts.ts';
import { forgetKeys, importLines, importLock, retryTakenKey } from './import-lines.ts';
import { type CheckLine, createLineCheck } from './imported-product.ts';
import { readJsonLine } from './json-line.ts';
import { mostRefusedLines, toRefusedLine } from './product-import.ts';

export interface ImportingOptions {
  readonly database: Database;
  /** The shop's currency, ISO 4217. */
  readonly currency: string;
  readonly log: Log;
}

const lookEvery = 1_000;
/**
 * The number of consecutive failures of one part after which an import fails. Failures of an unavailable database do
 * not count.
 */
const mostFailures = 5;

/** Imports that have ended, and keys of operators' imports that were interrupted and not continued. */
export const expiredImports: readonly Expiry[] = [
  { table: 'import_jobs', since: 'ended_at', hours: 7 * 24 },
  { table: 'import_keys', since: 'created_at', hours: 7 * 24 },
];

// A running import comes before all others, even before one that was accepted earlier and committed later.
const nextJob = 'SELECT id FROM import_jobs WHERE ended_at IS NULL ORDER BY status, number LIMIT 1';

const nextPart = `
  SELECT account_id AS "accountId", request_id AS "requestId", traceparent, refused AS "refusedBefore",
    first_line AS "firstLine", bytes
  FROM import_jobs AS job CROSS JOIN LATERAL (
    SELECT first_line, bytes FROM import_parts WHERE import_id = job.id ORDER BY first_line LIMIT 1
  ) AS part
  WHERE id = $1 AND ended_at IS NULL FOR UPDATE OF job`;

interface NextPart {
  readonly accountId: string;
  readonly requestId: string;
  readonly traceparent: string;
  readonly refusedBefore: number;
  readonly firstLine: number;
  readonly bytes: Buffer;
}

const saveProgress = `
  UPDATE import_jobs SET lines_read = $2, created = created + $3, changed = changed + $4, unchanged = unchanged + $5,
    refused = refused + $6, refused_lines = refused_lines || $7::jsonb, failures = 0,
    status = CASE WHEN $2 = lines THEN 'completed' ELSE 'running' END, ended_at = CASE WHEN $2 = lines THEN now() END
  WHERE id = $1
  RETURNING status`;

const saveFailure = `
  UPDATE import_jobs SET failures = failures + 1,
    status = CASE WHEN failures + 1 >= ${mostFailures} THEN 'failed' ELSE status END,
    ended_at = CASE WHEN failures + 1 >= ${mostFailures} THEN now() END
  WHERE id = $1 AND ended_at IS NULL
  RETURNING status`;

/**
 * Starts the loop; any number of replicas may run it. A part whose process died is imported by another process. The
 * returned function stops it and waits for the part in progress.
 */
export function startImporting(options: ImportingOptions): () => Promise<void> {
  let check: CheckLine | undefined;
  const work = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const { rows } = await options.database.pool.query<{ id: string }>(nextJob);
      const [job] = rows;
      if (job === undefined) return;
      check ??= createLineCheck(options.currency);
      if (!(await runPart(options, job.id, check))) return;
    }
  };
  return startRepeating(lookEvery, work, (error) => options.log.warn({ err: error }, 'imports wait'));
}

/** Imports the next part of an import. Returns false while another process imports. */
async function runPart({ database, currency, log }: ImportingOptions, id: string, check: CheckLine): Promise<boolean> {
  try {
    return await retryTakenKey(() => database.transaction((tx) => importPart(tx, id, check, currency)));
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const ended = await database.transaction((tx) => recordFailure(tx, id));
    log.error({ err: error, import: id }, ended ? 'an import has failed' : 'a part of an import could not be imported');
    return false;
  }
}

async function importPart(tx: Transaction, id: string, check: CheckLine, currency: string): Promise<boolean> {
  const [lock] = await sql<{ locked: boolean }>(tx, `SELECT pg_try_advisory_xact_lock(${importLock}) AS locked`, []);
  if (lock?.locked !== true) return false;
  const [part] = await sql<NextPart>(tx, nextPart, [id]);
  // Another process has imported the last part meanwhile.
  if (part === undefined) return true;
  const { accountId, requestId, traceparent, refusedBefore, firstLine } = part;
  const lines = linesOf(part);
  const checked = lines.flatMap(({ line, bytes }) => {
    const read = readJsonLine(line, bytes);
    return read === undefined ? [] : [check(read)];
  });
  const cause = { actor: 'staff', actorId: accountId, requestId, traceparent, reason: `import ${id}` } as const;
  const { created, changed, unchanged, refused } = await importLines(tx, id, checked, currency, cause);
  await sql(tx, 'DELETE FROM import_parts WHERE import_id = $1 AND first_line = $2', [id, firstLine]);
  const room = Math.max(mostRefusedLines - refusedBefore, 0);
  const shown = JSON.stringify(refused.slice(0, room).map(toRefusedLine));
  const lastLine = firstLine + lines.length - 1;
  const counts = [created, changed, unchanged, refused.length];
  const [saved] = await sql<{ status: string }>(tx, saveProgress, [id, lastLine, ...counts, shown]);
  if (saved?.status === 'completed') await forgetKeys(tx, id);
  return true;
}

/** Records a failure. Returns true when the import has ended with it. */
async function recordFailure(tx: Transaction, id: string): Promise<boolean> {
  const [saved] = await sql<{ status: string }>(tx, saveFailure, [id]);
  if (saved?.status !== 'failed') return false;
  await sql(tx, 'DELETE FROM import_parts WHERE import_id = $1', [id]);
  await forgetKeys(tx, id);
  return true;
}
