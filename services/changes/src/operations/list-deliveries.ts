// GET /v1/changes/{changeId}/deliveries: why the webhooks of the caller got a change or not.
import { requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Context, Operation } from '../context.ts';
import { isVisible, toFilter } from '../feed/change.ts';
import { findChange } from '../feed/find-change.ts';
import { explainDeliveries, toDeliveryView } from '../webhooks/explain-deliveries.ts';
import { findWebhooks } from '../webhooks/webhook-store.ts';

export const listDeliveries: Operation<'listDeliveries'> = async (request, { database }: Pick<Context, 'database'>) => {
  const caller = requireCaller(request);
  const change = await findChange(database.pool, request.path.changeId);
  if (change === undefined || !isVisible(change, toFilter(caller))) {
    throw new Problem('not-found', 'The feed has no such change, or you do not see it. Changes are kept for 7 days.');
  }
  const webhooks = await findWebhooks(database.pool, caller.accountId);
  // The caller is the owner, so its token has the scopes of the present.
  const scopesOf = ({ scopes }: { readonly scopes: readonly string[] }): ReadonlySet<string> =>
    new Set(scopes.filter((scope) => caller.scopes.has(scope)));
  const deliveries = await explainDeliveries(database.pool, change, webhooks, scopesOf);
  return { status: 200, body: { items: deliveries.map(toDeliveryView) } };
};
