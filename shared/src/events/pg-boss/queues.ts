// The queues of pg-boss: the data of a job, how queues are declared, and how messages are inserted.
import type { JobInsert, PgBoss } from 'pg-boss';
import { newId } from '../../runtime/index.ts';
import type { Message, Topology } from '../transport.ts';

/** The data of a job. */
export interface Payload {
  /** Undefined in a job that another program inserted. */
  readonly eventId: string | undefined;
  readonly content: string;
  /** The number of the attempt; absent for the first one. */
  readonly attempt?: number;
  /** Why the event became a dead letter. */
  readonly reason?: string;
}

// Seconds after which a job is delivered again because its process has died and sends no heartbeats, at most
// `deliveryLimit` times. This is the minimum of pg-boss.
const heartbeatSeconds = 10;
// Seconds after which a job is delivered again although its process lives. Handlers take milliseconds, but some seconds
// while their database is unavailable, and such an attempt must not count.
const expireInSeconds = 60;
const deliveryLimit = 20;
const year = 365 * 24 * 60 * 60;

/** Returns the queue of a consumer's dead letters. */
export const toDeadQueue = (consumer: string): string => `${consumer}.dead`;

export async function declareQueues(boss: PgBoss, topology: Topology): Promise<void> {
  const common = { expireInSeconds, heartbeatSeconds, retentionSeconds: year, deleteAfterSeconds: 300 };
  for (const consumer of Object.keys(topology.consumers)) {
    await boss.createQueue(toDeadQueue(consumer), common);
    const queue = {
      ...common,
      deadLetter: toDeadQueue(consumer),
      notify: true,
      retryLimit: deliveryLimit,
      retryDelay: 0,
    };
    await boss.createQueue(consumer, queue);
    await boss.updateQueue(consumer, queue);
  }
}

/**
 * Inserts messages into one queue. The id of the event is the id of the job, so publishing an event twice creates one
 * job.
 * @returns false when the queue did not exist; it is then declared again
 */
export async function insertMessages(
  boss: PgBoss,
  consumer: string,
  messages: readonly Message[],
  topology: Topology,
): Promise<boolean> {
  const jobs = messages.map(({ id, content }): JobInsert<Payload> => ({ id, data: { eventId: id, content } }));
  try {
    const inserted = await boss.insert(consumer, jobs as JobInsert[], { returnId: true });
    if (inserted?.length === jobs.length || (await boss.getQueue(consumer)) !== null) return true;
  } catch (error) {
    if ((await boss.getQueue(consumer)) !== null) throw error;
  }
  await declareQueues(boss, topology);
  return false;
}

/** Inserts an event into one queue as a new job, because the queue may still have the job of its first delivery. */
export async function sendAgain(boss: PgBoss, consumer: string, payload: Payload): Promise<void> {
  await boss.send(consumer, payload, { id: newId() });
}
