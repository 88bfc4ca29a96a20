// POST /internal/scopes: the present scopes of the owners of webhooks.
import type { Operation } from '../context.ts';
import { readPresentScopes } from '../session/present-scopes.ts';

export const readScopes: Operation<'readScopes'> = async ({ body }, { database }) => ({
  status: 200,
  body: { callers: await readPresentScopes(database.pool, body.callerIds) },
});
