// Pages kept in memory, each until a change of a row that belongs on it. The least recently used ones make room.
import type { Criteria } from '../grammar/criteria.ts';
import { matches, type PageExtent, type RowChange, touches } from './page-extent.ts';

/** A page that is kept under the text of each request that it answers. */
export interface KeptPage<Answer> {
  readonly answer: Answer;
  readonly extent: PageExtent;
  /** Bytes of memory that the answer occupies. */
  readonly bytes: number;
}

export type DropReason = 'change' | 'room' | 'unknown';

export interface PageCacheOptions {
  readonly maximumBytes: number;
  /** Called for pages that were dropped, with the seconds for which each was kept. */
  readonly dropped?: (reason: DropReason, seconds: number) => void;
}

interface Entry<Answer> extends KeptPage<Answer> {
  readonly text: string;
  readonly since: number;
  readonly size: number;
}

/** Pages with the same criteria but for their place: one comparison with the criteria decides about all of them. */
interface Group<Answer> {
  readonly criteria: Criteria;
  readonly entries: Set<Entry<Answer>>;
}

/** Bytes of an entry beside its answer and text: its extent, and its places in the maps. Measured with 20 rows. */
const entryOverhead = 2_000;
const idOverhead = 120;

export class PageCache<Answer> {
  readonly #options: PageCacheOptions;
  readonly #entries = new Map<string, Entry<Answer>>();
  readonly #groups = new Map<string, Group<Answer>>();
  /** Id of a row → the pages that show it, or have it behind them. */
  readonly #showing = new Map<string, Set<Entry<Answer>>>();
  readonly #fills = new Set<Fill<Answer>>();
  #bytes = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
  }

  get pages(): number {
    return this.#entries.size;
  }

  /** Bytes of memory that the pages occupy, estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The answer to a request with this text; undefined when none is kept. */
  find(text: string): Answer | undefined {
    const entry = this.#entries.get(text);
    if (entry === undefined) return undefined;
    // The last entries of the map are those that were used last.
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry.answer;
  }

  /** Call it before the page is read. Changes that arrive from now on are compared with the page before it is kept. */
  begin(): Fill<Answer> {
    const fill = new Fill<Answer>(
      (text, page) => this.#keep(text, page),
      () => this.#fills.delete(fill),
    );
    this.#fills.add(fill);
    return fill;
  }

  /** Drops exactly the pages that show the row, or on which it now belongs. @returns their number */
  apply(change: RowChange): number {
    for (const fill of this.#fills) fill.changed(change);
    const candidates = new Set(this.#showing.get(change.id));
    const { row } = change;
    if (row !== undefined) {
      for (const { criteria, entries } of this.#groups.values())
        if (matches(criteria, row)) for (const entry of entries) candidates.add(entry);
    }
    let dropped = 0;
    for (const entry of candidates) {
      if (!touches(change, entry.extent)) continue;
      this.#drop(entry, 'change');
      dropped += 1;
    }
    return dropped;
  }

  /** Drops all pages, because changes may have been missed. Pages that are being read are not kept. */
  clear(): void {
    for (const fill of this.#fills) fill.end();
    for (const entry of this.#entries.values()) this.#options.dropped?.('unknown', ageOf(entry));
    this.#entries.clear();
    this.#groups.clear();
    this.#showing.clear();
    this.#bytes = 0;
  }

  #keep(text: string, page: KeptPage<Answer>): void {
    const known = this.#entries.get(text);
    if (known !== undefined) this.#drop(known, 'room');
    const size = page.bytes + 2 * text.length + entryOverhead + idOverhead * rowsOf(page.extent).length;
    if (size > this.#options.maximumBytes) return;
    const entry = { ...page, text, size, since: performance.now() };
    this.#entries.set(text, entry);
    this.#groupOf(page.extent.criteria).entries.add(entry);
    for (const id of rowsOf(page.extent)) {
      const showing = this.#showing.get(id);
      if (showing === undefined) this.#showing.set(id, new Set([entry]));
      else showing.add(entry);
    }
    this.#bytes += size;
    while (this.#bytes > this.#options.maximumBytes) {
      const [oldest] = this.#entries.values();
      if (oldest === undefined) break;
      this.#drop(oldest, 'room');
    }
  }

  #groupOf(criteria: Criteria): Group<Answer> {
    const key = groupKey(criteria);
    const group = this.#groups.get(key) ?? { criteria, entries: new Set() };
    this.#groups.set(key, group);
    return group;
  }

  #drop(entry: Entry<Answer>, reason: DropReason): void {
    this.#entries.delete(entry.text);
    const key = groupKey(entry.extent.criteria);
    const group = this.#groups.get(key);
    group?.entries.delete(entry);
    if (group?.entries.size === 0) this.#groups.delete(key);
    for (const id of rowsOf(entry.extent)) {
      const showing = this.#showing.get(id);
      showing?.delete(entry);
      if (showing?.size === 0) this.#showing.delete(id);
    }
    this.#bytes -= entry.size;
    this.#options.dropped?.(reason, ageOf(entry));
  }
}

/** Ids of the rows without which the page would be different. */
function rowsOf({ ids, behind }: PageExtent): readonly string[] {
  return behind === undefined ? ids : [...ids, behind];
}

function groupKey({ conditions, or }: Criteria): string {
  return JSON.stringify([conditions, or]);
}

function ageOf({ since }: { readonly since: number }): number {
  return (performance.now() - since) / 1000;
}

/** More changes than this while one page is read are not compared with the page, which is not kept. */
const mostChanges = 100;

/** A page that is being read. */
export class Fill<Answer> {
  readonly #store: (text: string, page: KeptPage<Answer>) => void;
  readonly #forget: () => void;
  readonly #changes: RowChange[] = [];
  #ended = false;

  constructor(store: (text: string, page: KeptPage<Answer>) => void, forget: () => void) {
    this.#store = store;
    this.#forget = forget;
  }

  /** Keeps the page, unless a change that arrived meanwhile touches it: the page may have been read before the change. */
  keep(text: string, page: KeptPage<Answer>): void {
    if (this.#ended) return;
    this.end();
    if (!this.#changes.some((change) => touches(change, page.extent))) this.#store(text, page);
  }

  /** The page is not kept. Call it when the page was not read, too. */
  end(): void {
    this.#ended = true;
    this.#forget();
  }

  changed(change: RowChange): void {
    if (this.#changes.push(change) > mostChanges) this.end();
  }
}
