// Reads lists of products: for customers from memory or on the replica, for callers who may change products on the
// primary.
import type { Caller } from '@shop/shared/auth';
import { type Page, type PageRequest, readPage } from '@shop/shared/collection';
import type { Queryable, ReadReplica } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';
import type { ProductPages } from '../pages/product-pages.ts';

/** A request for a page. Its response may be cached. */
export type PageReader = Pick<OperationRequest, 'caller' | 'cacheWith'>;

export interface ProductReads {
  /**
   * Reads a page. For customers the data may be slightly outdated. For staff it comes from the primary, because the
   * next list must include the change of the last request.
   */
  readPage(request: PageReader, page: Omit<PageRequest<unknown>, 'pool'>): Promise<Page>;
  /**
   * Returns a page that depends on more than its criteria, and is therefore never cached.
   * @param staff undefined for customers
   */
  read<T>(staff: Caller | undefined, work: (on: Queryable) => Promise<T>): Promise<T>;
}

export interface ProductSources {
  readonly primary: Queryable;
  readonly replica: ReadReplica | undefined;
  readonly pages: ProductPages | undefined;
}

export function openProductReads({ primary, replica, pages }: ProductSources): ProductReads {
  const read: ProductReads['read'] = (staff, work) =>
    staff !== undefined || replica === undefined ? work(primary) : replica.read(work);
  return {
    read,
    readPage(request, page) {
      const { caller } = request;
      // A cached page has to be newer than the last change that was received, and a replica cannot guarantee that.
      if (caller === undefined && pages?.canKeep(page.criteria) === true)
        return pages.read(request, { ...page, pool: primary });
      return read(caller, (pool) => readPage({ ...page, pool }));
    },
  };
}
