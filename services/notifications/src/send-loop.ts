// Sends the e-mails that wait: claims as many as it may have in hand, sends them beside each other, and settles each as it ends.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@shop/shared/database';
import { type Pause, startPause } from '@shop/shared/runtime';
import { beginCounting, instruments } from '@shop/shared/telemetry';
import { claimDue, renewClaims, renewEvery, settleTried, type Tried } from './due.ts';
import type { Pace } from './notification.ts';
import { kinds } from './notification.ts';
import { type SendOptions, sendOne } from './send-one.ts';

export interface SendLoopOptions extends SendOptions {
  readonly database: Database;
  readonly pace: Pace;
}

export interface SendLoop {
  /** There may be something to send. */
  wake(): void;
  /** Stops within a few seconds: what is not sent by then is left to another sender. */
  close(): Promise<void>;
}

const counted = { sent: 'sent', failed: 'failed', waiting: 'put off' } as const;

/** Looks for e-mails this often without being woken, in milliseconds. */
const pollInterval = 1_000;
/** Pause after some were settled, so that what is added meanwhile goes together; the first after a quiet time does not wait. */
const gather = 50;
/** How long a stop waits for the e-mails in hand, in milliseconds: the process has 10 s for all of its stop. */
const finishWithin = 1_500;

export function startSendLoop(options: SendLoopOptions): SendLoop {
  const { database, log, mailer, pace } = options;
  beginCounting(
    instruments.emails,
    kinds.flatMap((kind) =>
      Object.values(counted).map((outcome) => ({ 'shop.email.kind': kind, 'shop.outcome': outcome })),
    ),
  );
  const inHand = new Set<string>();
  const halt = new AbortController();
  let ended: Tried[] = [];
  let renewedAt = 0;
  let stopping = false;
  let woken = 0;
  let resting: Pause | undefined;

  const wake = (): void => {
    woken += 1;
    resting?.end();
  };

  /** One that cannot be settled stays in hand and is not sent again; when the process stops, its claim runs out. */
  const settle = async (tried: readonly Tried[]): Promise<void> => {
    try {
      await settleTried(database, tried);
    } catch (error) {
      // One row must not keep the others from being marked: they were sent.
      if (tried.length > 1) await Promise.all(tried.map((each) => settle([each])));
      else {
        log.warn({ err: error }, 'an e-mail cannot be marked yet');
        if (stopping) for (const { due } of tried) inHand.delete(due.id);
        else ended.push(...tried);
      }
      return;
    }
    for (const { due, status } of tried) {
      inHand.delete(due.id);
      instruments.emails.add(1, { 'shop.email.kind': due.kind, 'shop.outcome': counted[status] });
    }
  };

  /** Whether it may be worth waiting a moment before the next pass. */
  const pass = async (): Promise<boolean> => {
    const tried = ended;
    ended = [];
    if (tried.length > 0) await settle(tried);
    // Before claiming: after a loss of the database a claim of our own that ran out would be taken for somebody else's.
    if (inHand.size > 0 && performance.now() - renewedAt > renewEvery) {
      await renewClaims(database, [...inHand]);
      renewedAt = performance.now();
    }
    const free = stopping ? 0 : mailer.atOnce - inHand.size;
    if (free === 0) return false;
    const { due, delayed } = await claimDue(database, free, pace);
    if (delayed > 0) wake();
    for (const each of due) {
      inHand.add(each.id);
      void sendOne(each, options, halt.signal).then((outcome) => {
        ended.push(outcome);
        wake();
      });
    }
    return tried.length > 0 && due.length < free;
  };

  const work = async (): Promise<void> => {
    while (!stopping || inHand.size > 0) {
      const seen = woken;
      try {
        if (await pass()) await sleep(gather);
      } catch (error) {
        log.warn({ err: error }, 'e-mails wait');
      }
      if (seen !== woken) continue;
      resting = startPause(pollInterval);
      await resting.over;
    }
  };

  const working = work();
  return {
    wake,
    async close() {
      stopping = true;
      wake();
      const late = setTimeout(() => halt.abort(), finishWithin);
      await working;
      clearTimeout(late);
    },
  };
}
