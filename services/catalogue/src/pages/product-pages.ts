// The cache of product pages in this process, and its metrics.
import { type Criteria, type KeptPage, PageCache, type PageExtent } from '@shop/shared/collection';
import type { AnswerMemory, KeptAnswer, Reply } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import { beginCounting, instruments, observe } from '@shop/shared/telemetry';
import { ChangeFeed } from './change-feed.ts';
import { isWatched, readChange } from './changed-product.ts';

export interface ProductPagesOptions {
  readonly databaseUrl: string;
  readonly maximumBytes: number;
  /** Milliseconds by which a page may lag behind a commit when the connection for changes does not answer. */
  readonly longestSilence: number;
  readonly log: Log;
}

/** A page that was read, with what it depends on; undefined when no product can ever be on it. */
type ReadPage = Reply<never> & { readonly extent: (() => PageExtent) | undefined };

/** The cache serves customers only. Requests of staff, and all operations that change products, read the database. */
export class ProductPages implements AnswerMemory {
  readonly #cache: PageCache<KeptAnswer>;
  readonly #feed: ChangeFeed;

  constructor({ databaseUrl, maximumBytes, longestSilence, log }: ProductPagesOptions) {
    const cache = new PageCache<KeptAnswer>({
      maximumBytes,
      dropped: (reason, seconds) => instruments.pageAges.record(seconds, { 'shop.reason': reason }),
    });
    this.#cache = cache;
    this.#feed = new ChangeFeed({
      databaseUrl,
      name: 'catalogue-pages',
      longestSilence,
      log,
      missed: () => cache.clear(),
      changed: (payload) => {
        instruments.pageChanges.add(1);
        const change = readChange(payload);
        if (change === undefined) cache.clear();
        else cache.apply(change);
      },
    });
    beginCounting(
      instruments.pageRequests,
      ['kept', 'read'].map((source) => ({ 'shop.source': source })),
    );
    observe('shop.pages.kept', { unit: '{page}', description: 'Pages of products kept in memory.' }, (tell) =>
      tell(cache.pages),
    );
    observe('shop.pages.memory', { unit: 'By', description: 'Memory of the kept pages, estimated.' }, (tell) =>
      tell(cache.bytes),
    );
    observe('shop.pages.current', { unit: '1', description: 'Whether kept pages are used.' }, (tell) =>
      tell(this.#feed.current ? 1 : 0),
    );
  }

  /** Whether a page with these criteria can be cached at present. It then has to be read from the primary. */
  canKeep({ conditions, or, sort }: Criteria): boolean {
    return this.#feed.current && [...conditions, ...or.flat(), ...sort].every(({ field }) => isWatched(field));
  }

  find(text: string): KeptPage<KeptAnswer> | undefined {
    const kept = this.#feed.current ? this.#cache.find(text) : undefined;
    if (kept !== undefined) instruments.pageRequests.add(1, { 'shop.source': 'kept' });
    return kept;
  }

  /** Reads a page that can be cached. The reply has the function that caches it. */
  async read(read: () => Promise<ReadPage>): Promise<Reply<never>> {
    instruments.pageRequests.add(1, { 'shop.source': 'read' });
    const fill = this.#cache.begin();
    try {
      const page = await read();
      const extent = page.extent?.();
      if (extent !== undefined)
        return { ...page, keep: (text, answer, body) => fill.keep(text, { answer, body, extent }) };
      fill.end();
      return page;
    } catch (error) {
      fill.end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#feed.close();
  }
}
