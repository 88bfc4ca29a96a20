// The dead letters of a consumer in pg-boss.
import type { JobWithMetadata } from 'pg-boss';
import type { DeadLetter, Transport } from '../transport.ts';
import type { Connection } from './connection.ts';
import { type Payload, sendAgain, toDeadQueue } from './queues.ts';

export function deadLettersOf(connection: Connection): Pick<Transport, 'deadLetters' | 'replay' | 'discard'> {
  /** Finds a dead letter by the id of its event, or by its own id when its content is not an event. */
  const find = async (consumer: string, id: string): Promise<JobWithMetadata<Payload> | undefined> => {
    const jobsBy = (by: object) => connection.boss().findJobs<Payload>(toDeadQueue(consumer), { ...by, queued: true });
    const [letter] = await jobsBy({ data: { eventId: id } });
    return letter ?? (await jobsBy({ id }))[0];
  };
  return {
    async deadLetters(consumer, limit) {
      const jobs = await connection.boss().findJobs<Payload>(toDeadQueue(consumer), { queued: true });
      return jobs
        .sort((a, b) => a.createdOn.getTime() - b.createdOn.getTime())
        .slice(0, limit)
        .map((job) => toDeadLetter(consumer, job));
    },
    async replay(consumer, id) {
      const letter = await find(consumer, id);
      if (letter === undefined) return false;
      const { eventId, content } = letter.data;
      await sendAgain(connection.boss(), consumer, { eventId, content });
      await connection.boss().deleteJob(toDeadQueue(consumer), letter.id);
      return true;
    },
    async discard(consumer, id) {
      const letter = await find(consumer, id);
      if (letter === undefined) return false;
      await connection.boss().deleteJob(toDeadQueue(consumer), letter.id);
      return true;
    },
  };
}

function toDeadLetter(consumer: string, job: JobWithMetadata<Payload>): DeadLetter {
  return {
    consumer,
    id: job.data.eventId ?? job.id,
    reason: job.data.reason ?? `given up: ${JSON.stringify(job.sourceOutput ?? {})}`,
    attempts: job.data.attempt ?? 1,
    deadAt: job.createdOn.toISOString(),
    content: job.data.content,
  };
}
