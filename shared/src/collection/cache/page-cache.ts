// Pages kept in memory, each until a change of a row that belongs on it. Pages that are not asked for make room.
import type { Condition } from '../grammar/criteria.ts';
import { matches, type PageExtent, type RowChange, type RowValues, touches } from './page-extent.ts';

/** A page as it was read. */
export interface ReadPage<Answer> {
  readonly answer: Answer;
  readonly body: Buffer;
  readonly extent: PageExtent;
}

/** A page as it is answered. */
export interface KeptPage<Answer> {
  readonly answer: Answer;
  readonly body: Buffer;
}

export type DropReason = 'change' | 'room' | 'age' | 'unknown';

export interface PageCacheOptions {
  readonly maximumBytes: number;
  /** Called for pages that were dropped, with the seconds for which each was kept. */
  readonly dropped?: (reason: DropReason, seconds: number) => void;
}

interface Entry<Answer> {
  readonly text: string;
  readonly answer: Answer;
  readonly body: Buffer;
  /** How often the page was asked for lately, at most `mostUses`. */
  uses: number;
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
  uses: number;
}

/** Bytes of an entry beside its text and body, with the headers of an answer. Measured with filters and links. */
const entryOverhead = 2_000;
/** The text of a request is also in the criteria of its page and in the key of its group. */
const copiesOfText = 4;
/** Longer texts and bodies are rare, and their memory would be at the cost of all others. */
const [longestText, longestBody] = [2_000, 128 * 1024];
/** Each change is compared with the conditions of so many groups of a bucket at most. */
const groupsOfBucket = 500;
/** Comparing more changes than this within so many milliseconds would delay the answers. */
const [burst, burstWithin] = [100, 100];
/** The most pages that are being read and may be kept. */
const mostFills = 1_000;
/**
 * Milliseconds for which a page is kept. It bounds the effect of a change of which nobody was notified, such as one
 * that was made with triggers disabled.
 */
const longestAge = 10 * 60_000;

export class PageCache<Answer> {
  readonly #options: PageCacheOptions;
  readonly #entries = new Map<string, Entry<Answer>>();
  /** All entries, in the order in which they make room. */
  readonly #all = new Set<Entry<Answer>>();
  readonly #groups = new Map<string, Group<Answer>>();
  /** A change concerns only the groups of few buckets: those without a certain value, and those of its row's values. */
  readonly #buckets = new Map<string, Set<Group<Answer>>>();
  readonly #fills = new Set<Fill<Answer>>();
  #bytes = 0;
  #burstSince = 0;
  #burstChanges = 0;

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
  find(text: string): KeptPage<Answer> | undefined {
    const entry = this.#entries.get(text);
    if (entry === undefined) return undefined;
    if (performance.now() - entry.since > longestAge) {
      this.#drop(entry, 'age');
      return undefined;
    }
    use(entry);
    use(entry.group);
    return entry;
  }

  /** Call it before the page is read. Changes that arrive from now on are compared with the page before it is kept. */
  begin(): Fill<Answer> {
    const fill = new Fill<Answer>(
      (text, page) => this.#keep(text, page),
      () => this.#fills.delete(fill),
    );
    this.#fills.add(fill);
    const [oldest] = this.#fills;
    if (this.#fills.size > mostFills) oldest?.end();
    return fill;
  }

  /**
   * Drops exactly the pages that showed the row before the change, or on which it now belongs. Of many changes in a
   * short time, as an import makes them, the last ones drop all pages.
   */
  apply(change: RowChange): void {
    if (this.#isBurst()) {
      this.clear();
      return;
    }
    for (const fill of this.#fills) fill.changed(change);
    for (const bucket of bucketsOf(change)) {
      for (const { entries } of this.#buckets.get(bucket) ?? []) {
        const [first] = entries;
        if (first === undefined || !concerns(change, first.extent)) continue;
        for (const entry of entries) {
          if (touches(change, entry.extent)) this.#drop(entry, 'change');
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

  /** Drops all pages, because changes may have been missed. Pages that are being read are not kept. */
  clear(): void {
    for (const fill of this.#fills) fill.end();
    for (const entry of [...this.#entries.values()]) this.#drop(entry, 'unknown');
  }

  #keep(text: string, { answer, body, extent }: ReadPage<Answer>): void {
    const known = this.#entries.get(text);
    if (known !== undefined) this.#drop(known, 'age');
    if (text.length > longestText || body.length > longestBody) return;
    const size = body.length + copiesOfText * text.length + entryOverhead;
    if (size > this.#options.maximumBytes) return;
    this.#makeRoomFor(size);
    const group = this.#groupOf(extent);
    const since = performance.now();
    const entry = { text, answer, body: copyOf(body), extent, group, size, since, uses: 0 };
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

  #groupOf({ criteria: { conditions, or } }: PageExtent): Group<Answer> {
    const key = JSON.stringify([conditions, or]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const bucket = bucketOf(conditions);
    const group = { key, bucket, entries: new Set<Entry<Answer>>(), uses: 0 };
    this.#groups.set(key, group);
    const others = this.#buckets.get(bucket) ?? new Set();
    const unused = others.size >= groupsOfBucket ? nextToGo(others) : undefined;
    for (const entry of [...(unused?.entries ?? [])]) this.#drop(entry, 'room');
    this.#buckets.set(bucket, others.add(group));
    return group;
  }

  #drop(entry: Entry<Answer>, reason: DropReason): void {
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

/** More uses are not counted, because each pass in `nextToGo` only halves them. */
const mostUses = 15;

function use(used: { uses: number }): void {
  if (used.uses < mostUses) used.uses += 1;
}

/**
 * The first that was not used lately. One that was used becomes the last one, and half of its uses are forgotten. This
 * needs less work for each use than a list in the order of use (the clock algorithm with counters).
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

/** A copy, because a small buffer is part of a larger one, which would be kept as a whole. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
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

  /**
   * Keeps the page, unless a change that arrived meanwhile touches it: the page may have been read before the change.
   */
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
