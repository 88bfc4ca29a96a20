// Reads lists of products: for customers on the replica, for callers who may change products on the primary.
import type { TokenVerifier } from '@shop/shared/auth';
import type { Queryable, ReadReplica } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';

export interface ProductReads {
  /** Runs `work`, which only reads. For customers the data may be a little old; for staff it is the primary's. */
  read<T>(request: OperationRequest, work: (on: Queryable) => Promise<T>): Promise<T>;
}

/** @param recent undefined without a replica; then no token is verified */
export function openProductReads(
  primary: Queryable,
  recent: ReadReplica | undefined,
  verify: TokenVerifier['verify'],
): ProductReads {
  if (recent === undefined) return { read: (_request, work) => work(primary) };
  return {
    read: async ({ headers }, work) =>
      (await changesProducts(verify, headers.authorization)) ? work(primary) : recent.read(work),
  };
}

/**
 * Whether the caller may change products. The next list must show the change of such a caller's last request. An
 * invalid token is treated as anonymous, because the list is public.
 */
async function changesProducts(verify: TokenVerifier['verify'], authorization: string | undefined): Promise<boolean> {
  if (authorization === undefined) return false;
  const caller = await verify(authorization).catch(() => undefined);
  return caller?.scopes.has('catalogue:write') === true;
}
