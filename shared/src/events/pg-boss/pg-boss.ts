// Events over pg-boss on PostgreSQL, for a shop on one machine: the same queues, retries and dead letters without a broker.
import { type JobInsert, type JobWithMetadata, PgBoss } from 'pg-boss';
import { withClient } from '../../database/index.ts';
import { newId } from '../../runtime/index.ts';
import { familyOf } from '../event.ts';
import {
  BrokerUnavailableError,
  type DeadLetter,
  type Message,
  nextTry,
  type Outcome,
  type Subscription,
  type Topology,
  type Transport,
  type TransportOptions,
  usualPatience,
} from '../transport.ts';

export interface PgBossOptions extends TransportOptions {
  /** The schema of pg-boss. */
  readonly namespace: string;
}

/**
 * What a job carries: the content as it was published and its event's id, which attempt it is when it is not the first, and why it
 * was given up.
 */
interface Payload {
  /** Undefined in what no transport of ours published. */
  readonly eventId: string | undefined;
  readonly content: string;
  readonly attempt?: number;
  readonly reason?: string;
}

// A job whose process died is given to another one after this time, at most so often; handlers take milliseconds.
const expireInSeconds = 5;
const deliveryLimit = 20;
const superviseSeconds = 2;
const year = 365 * 24 * 60 * 60;

const deadOf = (consumer: string) => `${consumer}.dead`;

/** Resolves when PostgreSQL was reached, or when the patience is over, and goes on trying in both cases. */
export async function connectPgBoss(options: PgBossOptions): Promise<Transport> {
  const { topology, log, patience = usualPatience } = options;
  let boss: PgBoss | undefined;
  let away = 'not connected yet';
  let closing = false;
  const subscriptions = new Set<Subscription>();

  const started = async (): Promise<PgBoss> => {
    const next = new PgBoss({
      connectionString: options.url,
      application_name: options.name,
      schema: options.namespace,
      createSchema: !(await hasSchema(options)),
      max: 4,
      connectionTimeoutMillis: 3_000,
      schedule: false,
      useListenNotify: true,
      supervise: true,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      maintenanceIntervalSeconds: 60,
    });
    next.on('error', (error) => log.warn({ err: error }, 'pg-boss'));
    next.on('warning', (warning) => log.warn({ warning }, 'pg-boss'));
    try {
      await next.start();
      await declareQueues(next, topology);
      return next;
    } catch (error) {
      await next.stop({ graceful: false }).catch(() => {});
      throw error;
    }
  };

  const connecting = (async () => {
    for (let delay = 100; !closing; delay = Math.min(delay * 2, 3_000)) {
      try {
        const next = await started();
        for (const subscription of subscriptions) await startWork(next, topology, subscription);
        boss = next;
        if (closing) await next.stop({ graceful: false });
        return;
      } catch (error) {
        away = error instanceof Error ? error.message : String(error);
        log.warn({ err: error }, 'no connection to the events database');
        await new Promise((resolve) => setTimeout(resolve, delay * (0.5 + Math.random())));
      }
    }
  })();
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, patience).unref())]);

  const connected = (): PgBoss => {
    if (boss === undefined) throw new BrokerUnavailableError(`the events database is away: ${away}`);
    return boss;
  };

  /** A dead letter by its event's id, or by its own when it carries none. */
  const findLetter = async (consumer: string, id: string): Promise<JobWithMetadata<Payload> | undefined> => {
    const find = (by: object) => connected().findJobs<Payload>(deadOf(consumer), { ...by, queued: true });
    const [letter] = await find({ data: { eventId: id } });
    return letter ?? (await find({ id }))[0];
  };

  return {
    async publish(messages) {
      const outcomes = messages.map((): Outcome => 'confirmed');
      for (const [consumer, types] of Object.entries(topology.consumers)) {
        const families = new Set(types.map(familyOf));
        const wanted = messages.filter(({ type }) => families.has(familyOf(type)));
        if (wanted.length > 0 && !(await insert(connected(), consumer, wanted, topology))) {
          wanted.forEach((message) => {
            outcomes[messages.indexOf(message)] = 'unroutable';
          });
        }
      }
      return outcomes;
    },
    async subscribe(subscription) {
      subscriptions.add(subscription);
      if (boss !== undefined) await startWork(boss, topology, subscription);
      return async () => {
        subscriptions.delete(subscription);
        await boss?.offWork(subscription.consumer);
      };
    },
    async depth(consumer) {
      // As counted by the supervision a moment ago.
      const [alive] = await connected().getQueueStats(consumer);
      const [dead] = await connected().getQueueStats(deadOf(consumer));
      const { readyCount: waiting = 0, deferredCount: delayed = 0 } = alive ?? {};
      return { waiting, delayed, dead: dead?.queuedCount ?? 0 };
    },
    async deadLetters(consumer, limit) {
      const jobs = await connected().findJobs<Payload>(deadOf(consumer), { queued: true });
      return jobs
        .sort((a, b) => a.createdOn.getTime() - b.createdOn.getTime())
        .slice(0, limit)
        .map((job) => toDeadLetter(consumer, job));
    },
    async replay(consumer, id) {
      const letter = await findLetter(consumer, id);
      if (letter === undefined) return false;
      const { eventId, content } = letter.data;
      await connected().send(consumer, { eventId, content }, { id: newId() });
      await connected().deleteJob(deadOf(consumer), letter.id);
      return true;
    },
    async discard(consumer, id) {
      const letter = await findLetter(consumer, id);
      if (letter === undefined) return false;
      await connected().deleteJob(deadOf(consumer), letter.id);
      return true;
    },
    async ping() {
      try {
        await connected().schemaVersion();
      } catch (error) {
        throw new BrokerUnavailableError('the events database is away', { cause: error });
      }
    },
    async close() {
      closing = true;
      await connecting;
      await boss?.stop({ graceful: true, timeout: 5_000 });
    },
  };
}

/** The role may own its schema without the right to create another one. */
async function hasSchema({ url, namespace }: PgBossOptions): Promise<boolean> {
  const { rows } = await withClient({ url, connectWithin: 3_000 }, (client) =>
    client.query<{ found: boolean }>('SELECT to_regnamespace($1) IS NOT NULL AS found', [namespace]),
  );
  return rows[0]?.found === true;
}

async function declareQueues(boss: PgBoss, topology: Topology): Promise<void> {
  const common = { expireInSeconds, retentionSeconds: year, deleteAfterSeconds: 300 };
  for (const consumer of Object.keys(topology.consumers)) {
    await boss.createQueue(deadOf(consumer), common);
    const queue = {
      ...common,
      deadLetter: deadOf(consumer),
      notify: true,
      retryLimit: deliveryLimit,
      retryDelay: 0,
    };
    await boss.createQueue(consumer, queue);
    await boss.updateQueue(consumer, queue);
  }
}

/** Puts messages into one queue; the event's id is the job's, so that publishing it twice makes no second job. False: no such queue. */
async function insert(
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

async function startWork(boss: PgBoss, topology: Topology, subscription: Subscription): Promise<void> {
  await boss.work(
    subscription.consumer,
    {
      batchSize: subscription.prefetch,
      includeMetadata: true,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 1, // delayed retries come due without a NOTIFY
    },
    async (jobs: JobWithMetadata<Payload>[]) => {
      await Promise.all(jobs.map((job) => takeJob(boss, topology, subscription, job)));
    },
  );
}

/**
 * A delivery that is to come again becomes a new job, as it becomes a new message in RabbitMQ, and so does a dead letter: pg-boss's
 * own retries are left for jobs whose process died. A death between the two makes a duplicate, never a loss. So all jobs of a batch
 * end alike, for which pg-boss has a far cheaper statement than for an end of each.
 */
async function takeJob(
  boss: PgBoss,
  topology: Topology,
  { consumer, take }: Subscription,
  job: JobWithMetadata<Payload>,
): Promise<void> {
  const { eventId, content, attempt = 1 } = job.data;
  const verdict = await take({ content, attempt });
  if (verdict.kind === 'done') return;
  const { kind, reason } = verdict;
  const next = nextTry(topology, attempt, kind);
  if (next === undefined) {
    const letter: Payload = { eventId, content, attempt, reason };
    await boss.send(deadOf(consumer), letter, { id: job.id });
  } else {
    const again: Payload = { eventId, content, attempt: next.attempt };
    await boss.send(consumer, again, { id: newId(), startAfter: next.delay });
  }
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
