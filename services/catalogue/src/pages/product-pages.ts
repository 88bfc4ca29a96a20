// The cache of product pages in this process, and its metrics.
import {
  type Criteria,
  type Page,
  PageCache,
  type PageRequest,
  readBoundedPage,
  toPageRange,
} from '@shop/shared/collection';
import type { CachedResponse, OperationRequest, ResponseCache } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import { beginCounting, instruments, observe } from '@shop/shared/telemetry';
import { ChangeFeed } from './change-feed.ts';
import { isWatched, readChange } from './changed-product.ts';

export interface ProductPagesOptions {
  readonly databaseUrl: string;
  readonly maximumBytes: number;
  /** Milliseconds by which a page may lag behind a commit when the connection for changes does not respond. */
  readonly longestSilence: number;
  readonly log: Log;
}

/** The cache serves customers only. Requests of staff, and all operations that change products, read the database. */
export class ProductPages implements ResponseCache {
  readonly #cache: PageCache<CachedResponse>;
  readonly #feed: ChangeFeed;

  constructor({ databaseUrl, maximumBytes, longestSilence, log }: ProductPagesOptions) {
    const cache = new PageCache<CachedResponse>({
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

  /** Returns whether a page with these criteria can be cached at present. It then has to be read from the primary. */
  canKeep({ conditions, or, sort }: Criteria): boolean {
    return this.#feed.current && [...conditions, ...or.flat(), ...sort].every(({ field }) => isWatched(field));
  }

  find(text: string): CachedResponse | undefined {
    const kept = this.#feed.current ? this.#cache.find(text) : undefined;
    if (kept !== undefined) instruments.pageRequests.add(1, { 'shop.source': 'kept' });
    return kept;
  }

  /** Reads a page, and caches the response to the request, unless no product can ever be on the page. */
  async read(request: Pick<OperationRequest, 'cacheWith'>, page: PageRequest<unknown>): Promise<Page> {
    instruments.pageRequests.add(1, { 'shop.source': 'read' });
    const pending = this.#cache.begin();
    try {
      const { page: result, bounds } = await readBoundedPage(page);
      if (bounds === undefined) {
        pending.end();
      } else {
        const range = toPageRange(page.collection.spec, page.criteria, bounds);
        request.cacheWith((text, response) => pending.keep(text, response, range));
      }
      return result;
    } catch (error) {
      pending.end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#feed.close();
  }
}
