// Pages kept in memory, each until a change of a row that belongs on it. The least recently used ones make room.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Condition } from '../grammar/criteria.ts';
import { matches, type PageExtent, type RowChange, type RowValues, touches } from './page-extent.ts';

/** A page as it was read. */
export interface ReadPage<Answer> {
  readonly answer: Answer;
  readonly body: Buffer;
  readonly extent: PageExtent;
}

/** A page as it is answered: each character of the body is one of its bytes (latin1). */
export interface KeptPage<Answer> {
  readonly answer: Answer;
  readonly body: string;
}

export type DropReason = 'change' | 'room' | 'unknown';

export interface PageCacheOptions {
  readonly maximumBytes: number;
  /** Called for pages that were dropped, with the seconds for which each was kept. */
  readonly dropped?: (reason: DropReason, seconds: number) => void;
}

interface Entry<Answer> {
  readonly text: string;
  readonly answer: Answer;
  readonly packed: Buffer;
  /** The body; undefined while only the packed one is kept. */
  body: string | undefined;
  readonly extent: PageExtent;
  readonly group: Group<Answer>;
  readonly since: number;
  readonly size: number;
}

/** Pages with the same conditions: one comparison with the conditions decides about all of them. */
interface Group<Answer> {
  readonly key: string;
  readonly bucket: string;
  readonly entries: Set<Entry<Answer>>;
}

/** Bytes of an entry beside its text and packed body, with the headers of an answer. Measured with filters and links. */
const entryOverhead = 2_500;

export class PageCache<Answer> {
  readonly #options: PageCacheOptions;
  /** By text, the least recently used first. */
  readonly #entries = new Map<string, Entry<Answer>>();
  /** Entries with a body, the least recently used first. */
  readonly #unpacked = new Set<Entry<Answer>>();
  readonly #groups = new Map<string, Group<Answer>>();
  /** A change concerns only the groups of few buckets: those without a certain value, and those of its row's values. */
  readonly #buckets = new Map<string, Set<Group<Answer>>>();
  readonly #fills = new Set<Fill<Answer>>();
  #bytes = 0;
  #bytesUnpacked = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
  }

  get pages(): number {
    return this.#entries.size;
  }

  /** Bytes of memory that the pages occupy, estimated. */
  get bytes(): number {
    return this.#bytes + this.#bytesUnpacked;
  }

  /** The answer to a request with this text; undefined when none is kept. */
  find(text: string): KeptPage<Answer> | undefined {
    const entry = this.#entries.get(text);
    if (entry === undefined) return undefined;
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return { answer: entry.answer, body: this.#bodyOf(entry) };
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

  /** Drops exactly the pages that showed the row before the change, or on which it now belongs. @returns their number */
  apply(change: RowChange): number {
    for (const fill of this.#fills) fill.changed(change);
    let dropped = 0;
    for (const bucket of bucketsOf(change)) {
      for (const { entries } of this.#buckets.get(bucket) ?? []) {
        const [first] = entries;
        if (first === undefined || !concerns(change, first.extent)) continue;
        for (const entry of entries) {
          if (!touches(change, entry.extent)) continue;
          this.#drop(entry, 'change');
          dropped += 1;
        }
      }
    }
    return dropped;
  }

  /** Drops all pages, because changes may have been missed. Pages that are being read are not kept. */
  clear(): void {
    for (const fill of this.#fills) fill.end();
    for (const entry of [...this.#entries.values()]) this.#drop(entry, 'unknown');
  }

  #bodyOf(entry: Entry<Answer>): string {
    const body = entry.body ?? inflateRawSync(entry.packed).toString('latin1');
    if (entry.body === undefined) this.#bytesUnpacked += body.length;
    entry.body = body;
    this.#unpacked.delete(entry);
    this.#unpacked.add(entry);
    this.#makeRoom();
    return body;
  }

  #keep(text: string, { answer, body, extent }: ReadPage<Answer>): void {
    const known = this.#entries.get(text);
    if (known !== undefined) this.#drop(known, 'room');
    const packed = deflateRawSync(body, { level: 1 });
    const size = packed.length + text.length + entryOverhead;
    if (size > this.#options.maximumBytes) return;
    const group = this.#groupOf(extent);
    const entry = { text, answer, packed, body: undefined, extent, group, since: performance.now(), size };
    this.#entries.set(text, entry);
    group.entries.add(entry);
    this.#bytes += size;
    this.#makeRoom();
  }

  /** Half of the memory is for pages that are answered without being unpacked. */
  #makeRoom(): void {
    const { maximumBytes } = this.#options;
    while (this.bytes > maximumBytes) {
      const [unpacked] = this.#unpacked;
      const [oldest] = this.#entries.values();
      if (unpacked !== undefined && this.#bytesUnpacked > maximumBytes / 2) this.#pack(unpacked);
      else if (oldest !== undefined) this.#drop(oldest, 'room');
    }
  }

  #pack(entry: Entry<Answer>): void {
    this.#bytesUnpacked -= entry.body?.length ?? 0;
    entry.body = undefined;
    this.#unpacked.delete(entry);
  }

  #groupOf({ criteria: { conditions, or } }: PageExtent): Group<Answer> {
    const key = JSON.stringify([conditions, or]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const bucket = bucketOf(conditions);
    const group = { key, bucket, entries: new Set<Entry<Answer>>() };
    this.#groups.set(key, group);
    const others = this.#buckets.get(bucket) ?? new Set();
    this.#buckets.set(bucket, others.add(group));
    return group;
  }

  #drop(entry: Entry<Answer>, reason: DropReason): void {
    this.#pack(entry);
    this.#entries.delete(entry.text);
    this.#bytes -= entry.size;
    const { group } = entry;
    group.entries.delete(entry);
    if (group.entries.size === 0) {
      this.#groups.delete(group.key);
      const others = this.#buckets.get(group.bucket);
      others?.delete(group);
      if (others?.size === 0) this.#buckets.delete(group.bucket);
    }
    this.#options.dropped?.(reason, (performance.now() - entry.since) / 1000);
  }
}

/** Groups that can hold any row. */
const anyRow = '';

/** Groups with one certain value of a field hold only rows with that value. */
function bucketOf(conditions: readonly Condition[]): string {
  const certain = conditions.find(({ operator }) => operator === 'eq');
  return certain !== undefined && 'value' in certain ? bucketName(certain.field, certain.value) : anyRow;
}

function bucketName(field: string, value: unknown): string {
  return `${field} ${value}`;
}

function bucketsOf({ before, after }: RowChange): ReadonlySet<string> {
  const names = (row: RowValues) => Object.entries(row).map(([field, value]) => bucketName(field, value));
  return new Set([anyRow, ...names(before ?? {}), ...names(after ?? {})]);
}

function concerns({ before, after }: RowChange, { criteria }: PageExtent): boolean {
  return (before !== undefined && matches(criteria, before)) || (after !== undefined && matches(criteria, after));
}

/** More changes than this while one page is read are not compared with the page, which is not kept. */
const mostChanges = 100;

/** A page that is being read. */
export class Fill<Answer> {
  readonly #store: (text: string, page: ReadPage<Answer>) => void;
  readonly #forget: () => void;
  readonly #changes: RowChange[] = [];
  #ended = false;

  constructor(store: (text: string, page: ReadPage<Answer>) => void, forget: () => void) {
    this.#store = store;
    this.#forget = forget;
  }

  /** Keeps the page, unless a change that arrived meanwhile touches it: the page may have been read before the change. */
  keep(text: string, page: ReadPage<Answer>): void {
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
