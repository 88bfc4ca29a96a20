// Metrics of webhooks: attempts, the time until a change is delivered, and the endpoints and subjects that fail.
import type { Database } from '@shop/shared/database';
import { beginCounting, instruments, observe, sharedRead } from '@shop/shared/telemetry';
import type { Change } from '../feed/change.ts';
import { troubleAfter } from './retry.ts';
import type { Attempt } from './send-request.ts';
import type { SentMessage } from './sender-store.ts';

const kinds = ['change', 'ping', 'reset'] as const;
const outcomes = ['delivered', 'refused', 'no-response'] as const;

export function countAttempt(kind: SentMessage['kind'], { status, error }: Attempt): void {
  const outcome = error === undefined ? 'delivered' : status === undefined ? 'no-response' : 'refused';
  instruments.webhookAttempts.add(1, { 'shop.webhook.message': kind, 'shop.outcome': outcome });
}

/** Measures the time from the change to its delivery. */
export function measureDelay({ happenedAt }: Change): void {
  instruments.webhookDelay.record(Math.max(0, Date.now() - happenedAt.getTime()) / 1_000);
}

export function observeWebhooks({ pool }: Database): void {
  beginCounting(
    instruments.webhookAttempts,
    kinds.flatMap((kind) => outcomes.map((outcome) => ({ 'shop.webhook.message': kind, 'shop.outcome': outcome }))),
  );
  const read = sharedRead(async () => {
    const { rows } = await pool.query<{ state: string; count: number }>(
      `SELECT CASE WHEN status = 'active' AND failures >= $1 THEN 'in-trouble' ELSE status END AS state,
         count(*)::int AS count FROM webhooks GROUP BY 1
       UNION ALL SELECT 'parked', count(*)::int FROM parked_subjects`,
      [troubleAfter],
    );
    return new Map(rows.map(({ state, count }) => [state, count]));
  });
  const states = ['unverified', 'active', 'in-trouble', 'paused', 'suspended', 'ended'];
  observe('shop.webhooks', { unit: '{webhook}', description: 'Webhooks, by their state.' }, async (tell) => {
    const found = await read();
    for (const state of states) tell(found.get(state) ?? 0, { 'shop.webhook.state': state });
  });
  const about = { unit: '{subject}', description: 'Subjects whose changes wait, because one of them failed.' };
  observe('shop.webhooks.parked', about, async (tell) => tell((await read()).get('parked') ?? 0));
}
