// Sends the e-mails that wait: each is claimed, sent and marked in one transaction, so that a sender that dies leaves its e-mail
// free at once. It may then go out twice, under the same Message-ID.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { inRequest, type Log, requestNow } from '@shop/shared/runtime';
import { beginCounting, instruments, runInSpan, SpanKind, startSpan } from '@shop/shared/telemetry';
import type { Transaction } from 'sequelize';
import { composeEmail, type Sender } from './email.ts';
import { type Mailer, UndeliverableError } from './mailer.ts';
import type { Kind, Occasion } from './notification.ts';

export interface SendLoopOptions {
  readonly database: Database;
  readonly mailer: Mailer;
  readonly sender: Sender;
  readonly log: Log;
  /** E-mails sent at once; default 4. Each holds a database connection meanwhile. */
  readonly workers?: number;
  /** Looks for e-mails this often without being woken, in milliseconds; default 1000. */
  readonly pollInterval?: number;
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

// An e-mail whose account is not known yet waits for the account's event; after a week there is none to come.
const claim = `
  SELECT n.id, n.kind, n.details, n.request_id AS "requestId", n.traceparent, n.attempts, r.email, r.name
  FROM notifications n LEFT JOIN recipients r USING (account_id)
  WHERE n.status = 'waiting' AND n.next_attempt_at <= now()
    AND (r.account_id IS NOT NULL OR n.created_at < now() - interval '7 days')
  ORDER BY n.next_attempt_at
  LIMIT 1
  FOR UPDATE OF n SKIP LOCKED`;

const settle = `
  UPDATE notifications SET status = $2, attempts = attempts + 1, problem = $3, settled_at = clock_timestamp()
  WHERE id = $1
  RETURNING settled_at AS "settledAt"`;

const putOff = `
  UPDATE notifications
  SET attempts = attempts + 1, problem = $2, next_attempt_at = clock_timestamp() + $3 * interval '1 second'
  WHERE id = $1`;

const kinds: readonly Kind[] = ['order-received', 'order-shipped', 'order-cancelled'];
const outcomes = ['sent', 'failed', 'put off'] as const;

const longestDelay = 600;
/** With delays of 1, 2, 4, … and then 600 seconds this is about two days. */
const mostAttempts = 300;
/** Below the time after which PostgreSQL ends an idle transaction. */
const sendWithin = 10_000;

export function startSendLoop(options: SendLoopOptions): SendLoop {
  const { log } = options;
  beginCounting(
    instruments.emails,
    kinds.flatMap((kind) => outcomes.map((outcome) => ({ 'shop.email.kind': kind, 'shop.outcome': outcome }))),
  );
  const stop = new AbortController();
  let calls = 0;
  let waking = new AbortController();

  const pause = async (milliseconds: number): Promise<void> => {
    const signal = AbortSignal.any([stop.signal, waking.signal]);
    await sleep(milliseconds, undefined, { signal }).catch(() => {});
  };

  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const seen = calls;
      try {
        const sent = await sendNext(options);
        if (!sent && seen === calls) await pause(options.pollInterval ?? 1_000);
      } catch (error) {
        log.warn({ err: error }, 'e-mails wait');
        await pause(1_000);
      }
    }
  };

  const workers = Array.from({ length: options.workers ?? 4 }, work);
  return {
    wake() {
      calls += 1;
      waking.abort();
      waking = new AbortController();
    },
    async close() {
      stop.abort();
      await Promise.all(workers);
    },
  };
}

/** Sends one e-mail that is due; false when there is none. */
function sendNext(options: SendLoopOptions): Promise<boolean> {
  return options.database.transaction(async (tx) => {
    const [due] = await sql<Due>(tx, claim);
    if (due === undefined) return false;
    await asPartOf(due, () => send(tx, due, options));
    return true;
  });
}

/** Works on an e-mail as part of the request that caused it. */
function asPartOf({ requestId: id, traceparent, kind }: Due, work: () => Promise<void>): Promise<void> {
  const span = startSpan(`send ${kind}`, SpanKind.PRODUCER, { 'shop.email.kind': kind }, traceparent);
  return span === undefined
    ? inRequest({ id, traceparent: traceparent ?? undefined }, work)
    : runInSpan(span, { id }, work);
}

async function send(tx: Transaction, due: Due, { mailer, sender, log }: SendLoopOptions): Promise<void> {
  const about = { order: due.details.orderId, kind: due.kind, requestId: due.requestId };
  try {
    if (due.email === null || due.name === null) throw new UndeliverableError('no address became known');
    await within(sendWithin, mailer.send(composeEmail(sender, { email: due.email, name: due.name }, due)));
    await finish(tx, due, 'sent', null);
    log.info(about, 'e-mail sent');
  } catch (error) {
    const problem = (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    if (error instanceof UndeliverableError || due.attempts + 1 >= mostAttempts) {
      await finish(tx, due, 'failed', problem);
      log.error({ ...about, err: error }, 'e-mail given up');
    } else {
      await sql(tx, putOff, [due.id, problem, Math.min(2 ** Math.min(due.attempts, 16), longestDelay)]);
      count(tx, due, 'put off');
      log.warn({ ...about, err: error }, 'e-mail put off');
    }
  }
}

function count(tx: Transaction, { kind }: Due, outcome: (typeof outcomes)[number]): void {
  tx.afterCommit(() => instruments.emails.add(1, { 'shop.email.kind': kind, 'shop.outcome': outcome }));
}

/** Marks the notification and tells of it, together. */
async function finish(tx: Transaction, due: Due, status: 'sent' | 'failed', problem: string | null): Promise<void> {
  const [row] = await sql<{ settledAt: Date }>(tx, settle, [due.id, status, problem]);
  if (row === undefined) throw new Error(`notification ${due.id} is gone`);
  count(tx, due, status);
  const { orderId, accountId } = due.details;
  await appendEvent(tx, {
    type: 'notification.sent.v1',
    subject: orderId,
    sequence: 1,
    requestId: due.requestId,
    traceparent: requestNow()?.traceparent,
    data: {
      orderId,
      accountId,
      kind: due.kind,
      outcome: status === 'sent' ? 'done' : 'failed',
      sentAt: row.settledAt.toISOString(),
    },
  });
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
