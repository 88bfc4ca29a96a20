// Consumes the jobs of one queue of pg-boss.
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { newId } from '../../runtime/index.ts';
import { nextTry } from '../retry-policy.ts';
import type { Subscription, Topology } from '../transport.ts';
import { type Payload, toDeadQueue } from './queues.ts';

export async function startWork(boss: PgBoss, topology: Topology, subscription: Subscription): Promise<void> {
  await boss.work(
    subscription.consumer,
    {
      batchSize: subscription.prefetch,
      includeMetadata: true,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 1, // delayed retries become due without a NOTIFY
    },
    async (jobs: JobWithMetadata<Payload>[]) => {
      await Promise.all(jobs.map((job) => handleJob(boss, topology, subscription, job)));
    },
  );
}

/**
 * Handles one job. A retried delivery becomes a new job, as it becomes a new message in RabbitMQ, and so does a dead
 * letter. All jobs of a batch can therefore be completed by one statement of pg-boss. Its own retries are only for jobs
 * of a dead process. If the process dies before the old job is completed, the delivery exists twice, and none is lost.
 */
async function handleJob(
  boss: PgBoss,
  topology: Topology,
  { consumer, handle }: Subscription,
  job: JobWithMetadata<Payload>,
): Promise<void> {
  const { eventId, content, attempt = 1 } = job.data;
  const verdict = await handle({ content, attempt });
  if (verdict.kind === 'done') return;
  const { kind, reason } = verdict;
  const next = nextTry(topology, attempt, kind);
  if (next === undefined) {
    const letter: Payload = { eventId, content, attempt, reason };
    await boss.send(toDeadQueue(consumer), letter, { id: job.id });
  } else {
    const again: Payload = { eventId, content, attempt: next.attempt };
    await boss.send(consumer, again, { id: newId(), startAfter: next.delay });
  }
}
