// Reads lists of products: for customers on the replica, for callers who may change products on the primary.
import type { Caller } from '@shop/shared/auth';
import type { Queryable, ReadReplica } from '@shop/shared/database';

export interface ProductReads {
  /**
   * Runs `work`, which only reads. For customers the data may be a little old. For staff it is the primary's, because the
   * next list must show the change of the last request.
   * @param staff undefined for customers
   */
  read<T>(staff: Caller | undefined, work: (on: Queryable) => Promise<T>): Promise<T>;
}

/** @param recent undefined without a replica */
export function openProductReads(primary: Queryable, recent: ReadReplica | undefined): ProductReads {
  return {
    read: (staff, work) => (recent === undefined || staff !== undefined ? work(primary) : recent.read(work)),
  };
}
