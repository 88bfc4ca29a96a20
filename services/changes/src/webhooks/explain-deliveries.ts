// Why webhooks got a change or not.
import type { Queryable } from '@shop/shared/database';
import { type Change, isVisible } from '../feed/change.ts';
import type { components } from '../generated.ts';
import { type AttemptRow, findAttemptsOf, toAttemptView } from './attempts.ts';
import type { ScopesOf } from './present-scopes.ts';
import { followedBy, type Webhook } from './webhook.ts';

export interface Delivery {
  readonly webhook: Webhook;
  readonly state: components['schemas']['Delivery']['state'];
  readonly nextAttemptAt: Date | undefined;
  readonly attempts: readonly AttemptRow[];
}

interface Parked {
  readonly webhookId: string;
  readonly position: number;
  readonly nextAttemptAt: Date;
}

/** Returns one delivery for each webhook, in their order. */
export async function explainDeliveries(
  database: Queryable,
  change: Change,
  webhooks: readonly Webhook[],
  scopesOf: ScopesOf,
): Promise<Delivery[]> {
  const ids = webhooks.map(({ id }) => id);
  const attempts = await findAttemptsOf(database, change.eventId, ids);
  const { rows: parked } = await database.query<Parked>(
    `SELECT webhook_id AS "webhookId", position, next_attempt_at AS "nextAttemptAt" FROM parked_subjects
     WHERE webhook_id = ANY ($1::uuid[]) AND source = $2 AND subject = $3`,
    [ids, change.source, change.subject],
  );
  return webhooks.map((webhook) => {
    const own = attempts.filter(({ webhookId }) => webhookId === webhook.id);
    const waiting = parked.find(({ webhookId }) => webhookId === webhook.id);
    const state = stateOf(webhook, change, { attempts: own, parked: waiting, scopes: scopesOf(webhook) });
    const next = { parked: waiting?.nextAttemptAt, waiting: webhook.nextAttemptAt } as const;
    const nextAttemptAt = state === 'parked' || state === 'waiting' ? next[state] : undefined;
    return { webhook, state, nextAttemptAt, attempts: own };
  });
}

export function toDeliveryView({
  webhook: { id, url, status },
  state,
  nextAttemptAt,
  attempts,
}: Delivery): components['schemas']['Delivery'] {
  return {
    ...{ webhookId: id, url, status, state },
    ...(nextAttemptAt !== undefined && { nextAttemptAt: nextAttemptAt.toISOString() }),
    attempts: attempts.map(toAttemptView),
  };
}

interface Known {
  readonly attempts: readonly AttemptRow[];
  readonly parked: Parked | undefined;
  readonly scopes: ReadonlySet<string>;
}

/** How the sender begins the error of an attempt after which it gives a change up. */
export const givenUp = 'given up';

function stateOf(webhook: Webhook, change: Change, { attempts, parked, scopes }: Known): Delivery['state'] {
  const { position } = change;
  const isAhead = position > webhook.position;
  if (!isAhead && parked !== undefined && parked.position <= position) return 'parked';
  if (!isAhead && attempts.some(({ error }) => error === null)) return 'delivered';
  if (attempts.at(-1)?.error?.startsWith(givenUp) === true) return 'given-up';
  if (!webhook.types.includes(change.kind)) return 'not-followed';
  if (!isVisible(change, followedBy(webhook, scopes))) return 'not-visible';
  if (isAhead) return attempts.some(({ error }) => error === null) ? 'delivered' : 'waiting';
  if (position <= webhook.firstPosition) return 'too-old';
  return webhook.collapse ? 'collapsed' : 'not-followed';
}
