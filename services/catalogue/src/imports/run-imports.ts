// Runs the imports over HTTP one after the other, in any process of the service.
import {
  type Database,
  type Expiry,
  isDatabaseUnavailable,
  isTimeout,
  sql,
  type Transaction,
} from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';
import { type FileLine, linesOf, mostLines } from './file-parts.ts';
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
 * The number of failures after which an import fails. Each failure halves the number of lines that are imported
 * together, so that the last failure concerns a single line. Each success subtracts one failure. A lost connection does
 * not count. A statement that took too long halves the lines, but does not fail the import.
 */
const mostFailures = 10;

/** Imports that have ended, and keys of operators' imports that were interrupted and not continued. */
export const expiredImports: readonly Expiry[] = [
  { table: 'import_jobs', since: 'ended_at', hours: 7 * 24 },
  { table: 'import_keys', since: 'created_at', hours: 7 * 24 },
];

// A running import has priority over all others, even over one that was accepted earlier and committed later.
const nextJob = 'SELECT id FROM import_jobs WHERE ended_at IS NULL ORDER BY status, number LIMIT 1';

const nextPart = `
  SELECT account_id AS "accountId", request_id AS "requestId", traceparent, refused AS "refusedBefore", failures,
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
  readonly failures: number;
  readonly firstLine: number;
  readonly bytes: Buffer;
}

const saveProgress = `
  UPDATE import_jobs SET lines_read = $2, created = created + $3, changed = changed + $4, unchanged = unchanged + $5,
    refused = refused + $6, refused_lines = refused_lines || $7::jsonb,
    failures = greatest(failures - 1, 0),
    status = CASE WHEN $2 = lines THEN 'completed' ELSE 'running' END, ended_at = CASE WHEN $2 = lines THEN now() END
  WHERE id = $1
  RETURNING status`;

const saveFailure = `
  UPDATE import_jobs SET failures = least(failures + 1, ${mostFailures} - 1),
    status = CASE WHEN failures + 1 >= ${mostFailures} AND NOT $2 THEN 'failed' ELSE status END,
    ended_at = CASE WHEN failures + 1 >= ${mostFailures} AND NOT $2 THEN now() END
  WHERE id = $1 AND ended_at IS NULL
  RETURNING status`;

/**
 * Starts the loop; any number of replicas may run it. When a process dies, another process imports its part. The
 * returned function stops the loop after the part in progress.
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
    const isTooSlow = isTimeout(error);
    if (isDatabaseUnavailable(error) && !isTooSlow) throw error;
    const ended = await database.transaction((tx) => recordFailure(tx, id, isTooSlow));
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
  const lines = linesOf(part).slice(0, Math.max(mostLines >> part.failures, 1));
  const checked = lines.flatMap(({ line, bytes }) => {
    const read = readJsonLine(line, bytes);
    return read === undefined ? [] : [check(read)];
  });
  const cause = { actor: 'staff', actorId: accountId, requestId, traceparent, reason: `import ${id}` } as const;
  const { created, changed, unchanged, refused } = await importLines(tx, id, checked, currency, cause);
  await forgetLines(tx, id, part, lines);
  const room = Math.max(mostRefusedLines - refusedBefore, 0);
  const shown = JSON.stringify(refused.slice(0, room).map(toRefusedLine));
  const lastLine = firstLine + lines.length - 1;
  const counts = [created, changed, unchanged, refused.length];
  const [saved] = await sql<{ status: string }>(tx, saveProgress, [id, lastLine, ...counts, shown]);
  if (saved?.status === 'completed') await forgetKeys(tx, id);
  return true;
}

/** Deletes the part, or those of its lines that were imported. */
async function forgetLines(tx: Transaction, id: string, part: NextPart, lines: readonly FileLine[]): Promise<void> {
  const { firstLine, bytes } = part;
  const end = lines.at(-1)?.end ?? bytes.length;
  if (end === bytes.length) {
    await sql(tx, 'DELETE FROM import_parts WHERE import_id = $1 AND first_line = $2', [id, firstLine]);
    return;
  }
  await sql(
    tx,
    `UPDATE import_parts SET first_line = first_line + $3, bytes = substr(bytes, $4 + 1)
     WHERE import_id = $1 AND first_line = $2`,
    [id, firstLine, lines.length, end],
  );
}

/** Records a failure. Returns true when the import has ended with it. */
async function recordFailure(tx: Transaction, id: string, isTooSlow: boolean): Promise<boolean> {
  const [saved] = await sql<{ status: string }>(tx, saveFailure, [id, isTooSlow]);
  if (saved?.status !== 'failed') return false;
  await sql(tx, 'DELETE FROM import_parts WHERE import_id = $1', [id]);
  await forgetKeys(tx, id);
  return true;
}
