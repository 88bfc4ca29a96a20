// GET /v1/accounts: one page of the accounts that match a search by staff.
import { fromQuery, readPage } from '@shop/shared/collection';
import type { OperationRequest } from '@shop/shared/http';
import type { Fault } from '@shop/shared/problem';
import { emailKey } from '@shop/shared/shop';
import type { Operation } from '../context.ts';

/** The minimum length of the search string. A shorter one would list a large fraction of all customers. */
const shortest = 3;

/** The page and a `Link` to the next one. 400 unless the query has either `email` or `q`. */
export const findAccounts: Operation<'findAccounts'> = (request, { database, support }) => {
  const { email, q } = request.query;
  const { collection, key } =
    email === undefined
      ? { collection: support.byPrefix, key: emailKey(q ?? '') }
      : { collection: support.byEmail, key: emailKey(email) };
  const criteria = fromQuery(collection.spec, request.query, [...request.faults, ...faultsIn(request, key)]);
  return readPage({
    collection,
    criteria,
    pool: database.pool,
    scope: { key },
    context: undefined,
    url: request.url,
  });
};

function faultsIn({ query: { email, q }, faults }: OperationRequest, key: string): Fault[] {
  if (faults.some(({ parameter }) => parameter === 'email' || parameter === 'q')) return [];
  if (email !== undefined && q !== undefined) return [{ parameter: 'q', detail: 'must not be given with email' }];
  if (email !== undefined) return [];
  if (q === undefined) return [{ parameter: 'email', detail: 'is required, or q' }];
  return [...key].length < shortest
    ? [{ parameter: 'q', detail: `must have at least ${shortest} characters without surrounding blanks` }]
    : [];
}
