// Where lists of products are read: on the replica, and on the primary for those who change products.
import type { TokenVerifier } from '@shop/shared/auth';
import type { Queryable, ReadReplica } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';

export interface ProductReads {
  /** Runs `work`, which only reads: for customers where the data may be a little old, for staff on the primary. */
  read<T>(request: OperationRequest, work: (on: Queryable) => Promise<T>): Promise<T>;
}

/** @param recent undefined when there is no replica: then nobody is asked who they are */
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
 * Whether the caller may change products, and so must find in the next list what the last request changed. Lists are
 * public: a token that does not hold makes its bearer a customer, and nothing is refused.
 */
async function changesProducts(verify: TokenVerifier['verify'], authorization: string | undefined): Promise<boolean> {
  if (authorization === undefined) return false;
  const caller = await verify(authorization).catch(() => undefined);
  return caller?.scopes.has('catalogue:write') === true;
}
