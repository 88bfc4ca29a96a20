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
    const { rows } = await pool.query<{ name: string; value: number }>(
      `SELECT CASE WHEN status = 'active' AND failures >= $1 THEN 'in-trouble' ELSE status END AS name,
         count(*)::float8 AS value FROM webhooks GROUP BY 1
       UNION ALL SELECT 'parked', count(*) FROM parked_subjects
       UNION ALL SELECT 'age', greatest(extract(epoch FROM now() - min(failing_since))::float8, 0) FROM (
         SELECT failing_since FROM webhooks WHERE status IN ('active', 'suspended') OR is_ping_due
         UNION ALL SELECT p.failing_since FROM parked_subjects p JOIN webhooks w ON w.id = webhook_id
         WHERE w.status IN ('active', 'suspended')) AS failing`,
      [troubleAfter],
    );
    return new Map(rows.map(({ name, value }) => [name, value]));
  });
  const states = ['unverified', 'active', 'in-trouble', 'paused', 'suspended', 'ended'];
  observe('shop.webhooks', { unit: '{webhook}', description: 'Webhooks, by their state.' }, async (tell) => {
    const found = await read();
    for (const state of states) tell(found.get(state) ?? 0, { 'shop.webhook.state': state });
  });
  const age = { unit: 's', description: 'Time since the first failure of what has failed the longest.' };
  observe('shop.webhooks.failing_age', age, async (tell) => tell((await read()).get('age') ?? 0));
  const about = { unit: '{subject}', description: 'Subjects whose changes wait, because one of them failed.' };
  observe('shop.webhooks.parked', about, async (tell) => tell((await read()).get('parked') ?? 0));
}
