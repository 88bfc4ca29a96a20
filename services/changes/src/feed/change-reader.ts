// Reads the feed. While callers wait, one query of the process looks for new changes and keeps them in memory for all.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@shop/shared/database';
import type { Log } from '@shop/shared/runtime';
import { type Change, type ChangeFilter, changeColumns, isVisible, kinds } from './change.ts';
import { cursorExpired, type FeedPosition } from './feed-cursors.ts';

export interface ChangePage {
  readonly changes: readonly Change[];
  /** The position after which the next page begins. */
  readonly next: FeedPosition;
  readonly hasMore: boolean;
}

/** Milliseconds between two queries for new changes. */
const pollEvery = 50;
/** The number of changes that are kept in memory. */
const keptChanges = 5_000;

/**
 * The changes that a caller sees, by reasons that exclude each other, so that each reason uses its index. Nothing is
 * scanned for a caller without kinds of staff.
 */
const visible = [
  'is_public AND kind = ANY ($2)',
  'NOT is_public AND account_id = $3 AND kind = ANY ($2)',
  'cardinality($4::text[]) > 0 AND NOT is_public AND account_id IS DISTINCT FROM $3 AND kind = ANY ($4)',
];

/**
 * Identifies the history of the feed: that of its restores, and that of the server's failovers, which begin a timeline.
 * Either may have lost changes that a cursor has passed.
 */
export const epoch = "epoch || '-' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS epoch";

/** One statement, so that the changes belong to the head of the feed. */
const pageStatement = `
  SELECT ${epoch}, head, coalesce((SELECT min(position) FROM changes), head + 1) AS oldest,
    ${changeColumns}
  FROM feed LEFT JOIN LATERAL (
    SELECT * FROM (${visible
      .map((reason) => `(SELECT * FROM changes WHERE position > $1 AND ${reason} ORDER BY position LIMIT $5)`)
      .join(' UNION ALL ')}) AS seen ORDER BY position LIMIT $5) AS page ON true
  ORDER BY position`;

/** Reads the `FeedPosition` of the newest change. */
export const headStatement = `SELECT ${epoch}, head AS position FROM feed`;

interface FeedState {
  readonly epoch: string;
  readonly head: number;
  readonly oldest: number;
}

type PageRow = FeedState & (Change | { readonly position: null });

/** Sees every change. */
const everything: ChangeFilter = { kinds, staffKinds: kinds, accountId: undefined };

export class ChangeReader {
  readonly #database: Database;
  readonly #log: Log;
  /** The newest changes, without a gap. */
  #recent: Change[] = [];
  /** The head of the feed as of the last query. Undefined while no caller waits. */
  #newest: FeedPosition | undefined;
  readonly #waiters = new Set<() => void>();
  #polling: Promise<void> | undefined;
  #closed = false;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Returns the position of the newest change. */
  async now(): Promise<FeedPosition> {
    const { rows } = await this.#database.pool.query<FeedPosition>(headStatement);
    const [feed] = rows;
    if (feed === undefined) throw new Error('the feed has a row');
    return feed;
  }

  /**
   * Returns the first changes that the filter admits after a position, or after the beginning of the feed.
   * @throws Problem 410 `cursor-expired` when changes after the position are missing
   */
  async read(after: FeedPosition | undefined, filter: ChangeFilter, limit: number): Promise<ChangePage> {
    return this.#readRecent(after, filter, limit) ?? (await this.#readStored(after, filter, limit));
  }

  /** Resolves when the feed has a change after the position, and at the latest after the time. */
  async wait({ position }: FeedPosition, milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      const isPast = this.#newest !== undefined && this.#newest.position !== position;
      if (this.#closed || signal.aborted || isPast) resolve();
    };
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', check);
    this.#waiters.add(check);
    this.#polling ??= this.#poll();
    check();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', check);
      this.#waiters.delete(check);
    }
  }

  /** Ends all waits. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const check of this.#waiters) check();
    await this.#polling;
  }

  #readRecent(after: FeedPosition | undefined, filter: ChangeFilter, limit: number): ChangePage | undefined {
    const newest = this.#newest;
    if (after === undefined || newest?.epoch !== after.epoch || after.position > newest.position) return undefined;
    const first = newest.position + 1 - this.#recent.length;
    if (after.position + 1 < first) return undefined;
    const changes: Change[] = [];
    for (const change of this.#recent.slice(after.position + 1 - first)) {
      if (!isVisible(change, filter)) continue;
      changes.push(change);
      if (changes.length === limit) {
        const { position } = change;
        return { changes, next: { ...newest, position }, hasMore: position < newest.position };
      }
    }
    return { changes, next: newest, hasMore: false };
  }

  async #readStored(after: FeedPosition | undefined, filter: ChangeFilter, limit: number): Promise<ChangePage> {
    const { rows } = await this.#database.pool.query<PageRow>({
      name: 'page-of-changes',
      text: pageStatement,
      values: [after?.position ?? 0, filter.kinds, filter.accountId ?? null, filter.staffKinds, limit],
    });
    const [feed] = rows;
    if (feed === undefined) throw new Error('the feed has a row');
    const { epoch, head, oldest } = feed;
    const isGone =
      after !== undefined && (after.position + 1 < oldest || after.position > head || after.epoch !== epoch);
    if (isGone) throw cursorExpired();
    const changes = rows.flatMap((row) => (row.position === null ? [] : row));
    const last = changes.length === limit ? changes.at(-1) : undefined;
    const position = last?.position ?? head;
    return { changes, next: { epoch, position }, hasMore: position < head };
  }

  /** Looks for new changes as long as callers wait. */
  async #poll(): Promise<void> {
    while (this.#waiters.size > 0 && !this.#closed) {
      try {
        await this.#load();
        for (const check of [...this.#waiters]) check();
      } catch (error) {
        this.#log.warn({ err: error }, 'the feed cannot be read at present');
        // What is in memory is out of date, and after a restore it is wrong.
        this.#forget();
        await sleep(1_000);
      }
      await sleep(pollEvery);
    }
    this.#forget();
    this.#polling = undefined;
  }

  async #load(): Promise<void> {
    const known = this.#newest;
    if (known === undefined) {
      this.#newest = await this.now();
      return;
    }
    const page = await this.#readStored(known, everything, keptChanges);
    if (page.changes.length === 0) return;
    this.#recent = [...this.#recent, ...page.changes].slice(-keptChanges);
    this.#newest = page.next;
  }

  #forget(): void {
    this.#newest = undefined;
    this.#recent = [];
  }
}
