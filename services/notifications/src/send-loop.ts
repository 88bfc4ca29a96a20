// Sends the e-mails that wait: a few are claimed, sent and marked in one transaction, so that a sender that dies leaves its e-mails
// free at once. They may then go out twice, under the same Message-ID.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '@shop/shared/database';
import { appendEvents } from '@shop/shared/events';
import { inRequest, type Log, type Pause, requestNow, startPause } from '@shop/shared/runtime';
import { beginCounting, instruments, runInSpan, SpanKind, startSpan } from '@shop/shared/telemetry';
import { composeEmail, type Sender } from './email.ts';
import { type Mailer, UndeliverableError } from './mailer.ts';
import type { Kind, Occasion } from './notification.ts';

export interface SendLoopOptions {
  readonly database: Database;
  readonly mailer: Mailer;
  readonly sender: Sender;
  readonly log: Log;
  /** How many are at work, so that a slow server for some e-mails does not hold up all. Each holds a database connection. */
  readonly workers: number;
}

export interface SendLoop {
  /** There may be something to send. */
  wake(): void;
  /** Stops after the e-mails in work. */
  close(): Promise<void>;
}

type Due = Occasion & {
  readonly id: string;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly attempts: number;
  readonly email: string | null;
  readonly name: string | null;
};

/** What became of an e-mail; one that waits is tried again after the delay, in seconds. */
interface Outcome {
  readonly status: 'sent' | 'failed' | 'waiting';
  readonly problem?: string;
  readonly delay?: number;
}

// An e-mail whose account is not known yet waits for the account's event; after a week there is none to come.
const claim = `
  SELECT n.id, n.kind, n.details, n.request_id AS "requestId", n.traceparent, n.attempts, r.email, r.name
  FROM notifications n LEFT JOIN recipients r USING (account_id)
  WHERE n.status = 'waiting' AND n.next_attempt_at <= now()
    AND (r.account_id IS NOT NULL OR n.created_at < now() - interval '7 days')
  ORDER BY n.next_attempt_at
  LIMIT $1
  FOR UPDATE OF n SKIP LOCKED`;

const settle = `
  UPDATE notifications SET
    status = outcome.status,
    attempts = attempts + 1,
    problem = outcome.problem,
    settled_at = CASE WHEN delay IS NULL THEN clock_timestamp() END,
    next_attempt_at = CASE WHEN delay IS NULL THEN next_attempt_at ELSE clock_timestamp() + delay * interval '1 second' END
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[]) AS outcome (id, status, problem, delay)
  WHERE notifications.id = outcome.id
  RETURNING notifications.id, settled_at AS "settledAt"`;

const kinds: readonly Kind[] = ['order-received', 'order-shipped', 'order-cancelled'];
const counted = { sent: 'sent', failed: 'failed', waiting: 'put off' } as const;

const longestDelay = 600;
/** With delays of 1, 2, 4, … and then 600 seconds this is about two days. */
const mostAttempts = 300;
/** Below the time after which PostgreSQL ends an idle transaction. */
const sendWithin = 10_000;
/** Looks for e-mails this often without being woken, in milliseconds. */
const pollInterval = 1_000;
/** Pause after sending, so that what is added meanwhile goes together; the first e-mail after a quiet time does not wait. */
const gather = 50;

export function startSendLoop(options: SendLoopOptions): SendLoop {
  const { log, mailer } = options;
  beginCounting(
    instruments.emails,
    kinds.flatMap((kind) =>
      Object.values(counted).map((outcome) => ({ 'shop.email.kind': kind, 'shop.outcome': outcome })),
    ),
  );
  let stopping = false;
  const resting: Pause[] = [];
  let woken = 0;

  const rest = async (milliseconds: number): Promise<void> => {
    if (stopping) return;
    const pause = startPause(milliseconds);
    resting.push(pause);
    await pause.over;
    const place = resting.indexOf(pause);
    if (place >= 0) resting.splice(place, 1);
  };

  const work = async (): Promise<void> => {
    while (!stopping) {
      const seen = woken;
      try {
        const sent = await sendSome(options);
        if (sent > 0 && sent < mailer.atOnce) await sleep(gather);
        if (sent < mailer.atOnce && seen === woken) await rest(pollInterval);
      } catch (error) {
        log.warn({ err: error }, 'e-mails wait');
        await rest(1_000);
      }
    }
  };

  const workers = Array.from({ length: options.workers }, work);
  return {
    wake() {
      woken += 1;
      resting.pop()?.end();
    },
    async close() {
      stopping = true;
      for (const pause of resting) pause.end();
      await Promise.all(workers);
    },
  };
}

/** Sends the e-mails that are due, a few at most, marks them and tells of them; returns how many there were. */
function sendSome(options: SendLoopOptions): Promise<number> {
  return options.database.transaction(async (tx) => {
    const due = await sql<Due>(tx, claim, [options.mailer.atOnce], { planEachTime: true });
    if (due.length === 0) return 0;
    const tried = await Promise.all(
      due.map((each) =>
        asPartOf(each, async () => {
          const outcome = await send(each, options);
          return { ...each, ...outcome, traceparent: requestNow()?.traceparent };
        }),
      ),
    );
    const outcomes = [
      tried.map(({ id }) => id),
      tried.map(({ status }) => status),
      tried.map(({ problem }) => problem ?? null),
      tried.map(({ delay }) => delay ?? null),
    ];
    const settled = await sql<{ id: string; settledAt: Date | null }>(tx, settle, outcomes, { planEachTime: true });
    const told = tried.flatMap(({ kind, status, details, requestId, traceparent, id }) => {
      const settledAt = settled.find((row) => row.id === id)?.settledAt;
      if (!settledAt) return [];
      const { orderId, accountId } = details;
      const outcome = status === 'sent' ? ('done' as const) : ('failed' as const);
      return {
        type: 'notification.sent.v1' as const,
        subject: orderId,
        sequence: 1,
        requestId,
        traceparent,
        data: { orderId, accountId, kind, outcome, sentAt: settledAt.toISOString() },
      };
    });
    if (told.length > 0) await appendEvents(tx, told);
    tx.afterCommit(() => {
      for (const { kind, status } of tried)
        instruments.emails.add(1, { 'shop.email.kind': kind, 'shop.outcome': counted[status] });
    });
    return due.length;
  });
}

/** Works on an e-mail as part of the request that caused it. */
function asPartOf<T>({ requestId: id, traceparent, kind }: Due, work: () => Promise<T>): Promise<T> {
  const span = startSpan(`send ${kind}`, SpanKind.PRODUCER, { 'shop.email.kind': kind }, traceparent);
  return span === undefined
    ? inRequest({ id, traceparent: traceparent ?? undefined }, work)
    : runInSpan(span, { id }, work);
}

/** Sends one e-mail; never rejects. */
async function send(due: Due, { mailer, sender, log }: SendLoopOptions): Promise<Outcome> {
  const about = { order: due.details.orderId, kind: due.kind, requestId: due.requestId };
  try {
    if (due.email === null || due.name === null) throw new UndeliverableError('no address became known');
    await within(sendWithin, mailer.send(composeEmail(sender, { email: due.email, name: due.name }, due)));
    log.info(about, 'e-mail sent');
    return { status: 'sent' };
  } catch (error) {
    const problem = (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    if (error instanceof UndeliverableError || due.attempts + 1 >= mostAttempts) {
      log.error({ ...about, err: error }, 'e-mail given up');
      return { status: 'failed', problem };
    }
    log.warn({ ...about, err: error }, 'e-mail put off');
    return { status: 'waiting', problem, delay: Math.min(2 ** Math.min(due.attempts, 16), longestDelay) };
  }
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not sent within ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
