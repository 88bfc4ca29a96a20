// Reads lists of products: for customers from memory or on the replica, for callers who may change products on the
// primary.
import type { Caller } from '@shop/shared/auth';
import type { Criteria, PageExtent } from '@shop/shared/collection';
import type { Queryable, ReadReplica } from '@shop/shared/database';
import type { Reply } from '@shop/shared/http';
import type { ProductPages } from '../pages/product-pages.ts';

export interface ProductReads {
  /**
   * Returns a page, which `work` reads. For customers the data may be a little old. For staff it comes from the
   * primary, because the next list must show the change of the last request.
   * @param staff undefined for customers
   */
  readPage(staff: Caller | undefined, criteria: Criteria, work: ReadPage): Promise<Reply<never>>;
  /** Returns a page that depends on more than its criteria, and is therefore never cached. */
  read<T>(staff: Caller | undefined, work: (on: Queryable) => Promise<T>): Promise<T>;
}

type ReadPage = (on: Queryable) => Promise<Reply<never> & { readonly extent: (() => PageExtent) | undefined }>;

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
    readPage(staff, criteria, work) {
      if (staff !== undefined) return work(primary);
      // A cached page has to be newer than the last change that was received, and a replica cannot guarantee that.
      if (pages?.canKeep(criteria) === true) return pages.read(() => work(primary));
      return read(staff, work);
    },
  };
}
