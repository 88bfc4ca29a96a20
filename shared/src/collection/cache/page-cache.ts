// Caches pages in memory, each until a row changes that belongs on it. Pages that are not requested are removed first.
import type { Condition } from '../grammar/criteria.ts';
import { affects, matches, type PageRange, type RowChange, type RowValues } from './page-range.ts';

/** A response as it is sent to clients. */
interface WithBody {
  readonly body: Buffer;
}

export type DropReason = 'change' | 'room' | 'age' | 'unknown';

export interface PageCacheOptions {
  readonly maximumBytes: number;
  /** Called for pages that were removed, with the seconds for which each was cached. */
  readonly dropped?: (reason: DropReason, seconds: number) => void;
}

interface Entry<Response> {
  readonly text: string;
  readonly response: Response;
  /** The number of recent requests for the page, at most `mostUses`. */
  uses: number;
  readonly range: PageRange;
  readonly group: Group<Response>;
  readonly since: number;
  readonly size: number;
}

/** Pages with the same conditions. One comparison of a row with these conditions applies to all of them. */
interface Group<Response> {
  readonly key: string;
  readonly bucket: string;
  readonly entries: Set<Entry<Response>>;
  uses: number;
}

/** Bytes of an entry in addition to its key and body, with the response headers. Measured with filters and links. */
const entryOverhead = 2_000;
/** The number of copies of the request's URL, which is also in the criteria of its page and in the key of its group. */
const copiesOfText = 4;
/** The maximum sizes. Longer URLs and bodies are rare, and would use the memory of all other pages. */
const [longestText, longestBody] = [2_000, 128 * 1024];
/** The maximum number of groups in a bucket, because each change is compared with the conditions of all of them. */
const groupsOfBucket = 500;
/** The maximum number of changes within a number of milliseconds. Comparing more of them would delay responses. */
const [burst, burstWithin] = [100, 100];
/** The maximum number of pages that are being read at the same time and may be cached. */
const mostReads = 1_000;
/**
 * Milliseconds for which a page is cached. This limits the effect of a change without a notification, such as one that
 * was made with triggers disabled.
 */
const longestAge = 10 * 60_000;

export class PageCache<Response extends WithBody> {
  readonly #options: PageCacheOptions;
  readonly #entries = new Map<string, Entry<Response>>();
  /** All entries, in the order in which they are removed. */
  readonly #all = new Set<Entry<Response>>();
  readonly #groups = new Map<string, Group<Response>>();
  /**
   * The groups by bucket. A change concerns only few buckets: the one of groups without a certain value, and those of
   * its row's values.
   */
  readonly #buckets = new Map<string, Set<Group<Response>>>();
  readonly #reads = new Set<PendingRead<Response>>();
  #bytes = 0;
  #burstSince = 0;
  #burstChanges = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
  }

  get pages(): number {
    return this.#entries.size;
  }

  /** The estimated memory of all pages in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the response to a request with this key; undefined when none is cached. */
  find(text: string): Response | undefined {
    const entry = this.#entries.get(text);
    if (entry === undefined) return undefined;
    if (performance.now() - entry.since > longestAge) {
      this.#drop(entry, 'age');
      return undefined;
    }
    use(entry);
    use(entry.group);
    return entry.response;
  }

  /** Begins to read a page. Changes that arrive after this call are compared with the page before it is cached. */
  begin(): PendingRead<Response> {
    const read = new PendingRead<Response>(
      (text, response, range) => this.#keep(text, response, range),
      () => this.#reads.delete(read),
    );
    this.#reads.add(read);
    const [oldest] = this.#reads;
    if (this.#reads.size > mostReads) oldest?.end();
    return read;
  }

  /**
   * Removes exactly the pages that showed the row before the change, or on which it now belongs. When many changes
   * arrive in a short time, as during an import, all pages are removed instead.
   */
  apply(change: RowChange): void {
    if (this.#isBurst()) {
      this.clear();
      return;
    }
    for (const read of this.#reads) read.changed(change);
    for (const bucket of bucketsOf(change)) {
      for (const { entries } of this.#buckets.get(bucket) ?? []) {
        const [first] = entries;
        if (first === undefined || !concerns(change, first.range)) continue;
        for (const entry of entries) {
          if (affects(change, entry.range)) this.#drop(entry, 'change');
        }
      }
    }
  }

  #isBurst(): boolean {
    const now = performance.now();
    if (now - this.#burstSince > burstWithin) {
      this.#burstSince = now;
      this.#burstChanges = 0;
    }
    this.#burstChanges += 1;
    return this.#burstChanges > burst;
  }

  /** Removes all pages, because changes may have been missed. Pages that are being read are not cached. */
  clear(): void {
    for (const read of this.#reads) read.end();
    for (const entry of [...this.#entries.values()]) this.#drop(entry, 'unknown');
  }

  #keep(text: string, response: Response, range: PageRange): void {
    const { body } = response;
    const known = this.#entries.get(text);
    if (known !== undefined) this.#drop(known, 'age');
    if (text.length > longestText || body.length > longestBody) return;
    const size = body.length + copiesOfText * text.length + entryOverhead;
    if (size > this.#options.maximumBytes) return;
    this.#makeRoomFor(size);
    const group = this.#groupOf(range);
    const since = performance.now();
    const entry = { text, response: { ...response, body: copyOf(body) }, range, group, size, since, uses: 0 };
    this.#entries.set(text, entry);
    this.#all.add(entry);
    group.entries.add(entry);
    this.#bytes += size;
  }

  #makeRoomFor(size: number): void {
    while (this.#bytes + size > this.#options.maximumBytes) {
      const entry = nextToGo(this.#all);
      if (entry === undefined) return;
      this.#drop(entry, 'room');
    }
  }

  #groupOf({ criteria: { conditions, or } }: PageRange): Group<Response> {
    const key = JSON.stringify([conditions, or]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const bucket = bucketOf(conditions);
    const group = { key, bucket, entries: new Set<Entry<Response>>(), uses: 0 };
    this.#groups.set(key, group);
    const others = this.#buckets.get(bucket) ?? new Set();
    const unused = others.size >= groupsOfBucket ? nextToGo(others) : undefined;
    for (const entry of [...(unused?.entries ?? [])]) this.#drop(entry, 'room');
    this.#buckets.set(bucket, others.add(group));
    return group;
  }

  #drop(entry: Entry<Response>, reason: DropReason): void {
    this.#entries.delete(entry.text);
    this.#all.delete(entry);
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

/** More uses are not counted, because each pass in `nextToGo` only halves the number. */
const mostUses = 15;

function use(used: { uses: number }): void {
  if (used.uses < mostUses) used.uses += 1;
}

/**
 * Returns the first entry that was not used recently. A used entry is moved to the end, and its number of uses is
 * halved. This takes less work for each use than a list in the order of use (the clock algorithm with counters).
 */
function nextToGo<Used extends { uses: number }>(all: Set<Used>): Used | undefined {
  for (const each of all) {
    if (each.uses === 0) return each;
    each.uses >>= 1;
    all.delete(each);
    all.add(each);
  }
  return undefined;
}

/** Copies the bytes, because a small buffer is a part of a larger one, which would stay in memory. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** The bucket of groups that any row can belong to. */
const anyRow = '';

/** Returns the bucket of groups with one certain value of a field. They contain only rows with that value. */
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

function concerns({ before, after }: RowChange, { criteria }: PageRange): boolean {
  return (before !== undefined && matches(criteria, before)) || (after !== undefined && matches(criteria, after));
}

/** The maximum number of changes while one page is read. After more changes, the page is not cached. */
const mostChanges = 100;

/** A page that is being read. */
export class PendingRead<Response> {
  readonly #store: (text: string, response: Response, range: PageRange) => void;
  readonly #forget: () => void;
  readonly #changes: RowChange[] = [];
  #ended = false;

  constructor(store: (text: string, response: Response, range: PageRange) => void, forget: () => void) {
    this.#store = store;
    this.#forget = forget;
  }

  /**
   * Caches the page, unless a change that arrived meanwhile affects it: the page may have been read before the change.
   */
  keep(text: string, response: Response, range: PageRange): void {
    if (this.#ended) return;
    this.end();
    if (!this.#changes.some((change) => affects(change, range))) this.#store(text, response, range);
  }

  /** Stops reading without caching the page. Call it also when reading failed. */
  end(): void {
    this.#ended = true;
    this.#forget();
  }

  changed(change: RowChange): void {
    if (this.#changes.push(change) > mostChanges) this.end();
  }
}
