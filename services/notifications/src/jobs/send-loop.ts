// Sends the waiting e-mails: claims as many as may be in progress, sends them concurrently, and records the outcomes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@shop/shared/database';
import { type Pause, startPause } from '@shop/shared/runtime';
import { beginCounting, instruments } from '@shop/shared/telemetry';
import { kinds } from '../email/notification.ts';
import {
  type AttemptedEmail,
  claimEmails,
  recordOutcomes,
  renewClaims,
  renewEvery,
} from '../email/notification-queue.ts';
import type { RateLimit } from '../email/rate-limit.ts';
import { type SendOptions, sendOne } from './send-one.ts';

export interface SendLoopOptions extends SendOptions {
  readonly database: Database;
  readonly rateLimit: RateLimit;
}

export interface SendLoop {
  /** Called when there may be an e-mail to send. */
  wake(): void;
  /** Stops within a few seconds. Another sender sends the remaining e-mails. */
  close(): Promise<void>;
}

const counted = { sent: 'sent', failed: 'failed', waiting: 'put off', withheld: 'withheld' } as const;

/** Milliseconds between two queries for e-mails when `wake` is not called. */
const pollInterval = 1_000;
/**
 * Milliseconds to wait after recording outcomes, so that e-mails added meanwhile are claimed in one batch. The first
 * e-mail after an idle time does not wait.
 */
const batchDelay = 100;
/** Milliseconds that a stop waits for the e-mails in progress. The whole stop of the process may take 10 s. */
const finishWithin = 1_500;

export function startSendLoop(options: SendLoopOptions): SendLoop {
  beginCounting(
    instruments.emails,
    kinds.flatMap((kind) =>
      Object.values(counted).map((outcome) => ({ 'shop.email.kind': kind, 'shop.outcome': outcome })),
    ),
  );
  return new Sender(options);
}

class Sender implements SendLoop {
  readonly #options: SendLoopOptions;
  /** The ids of the claimed e-mails without a recorded outcome. */
  readonly #inProgress = new Set<string>();
  readonly #halt = new AbortController();
  readonly #working: Promise<void>;
  /** Outcomes to record. */
  #ended: AttemptedEmail[] = [];
  #renewedAt = 0;
  #stopping = false;
  #wakes = 0;
  #pause: Pause | undefined;

  constructor(options: SendLoopOptions) {
    this.#options = options;
    this.#working = this.#work();
  }

  wake(): void {
    this.#wakes += 1;
    this.#pause?.end();
  }

  async close(): Promise<void> {
    this.#stopping = true;
    this.wake();
    const late = setTimeout(() => this.#halt.abort(), finishWithin);
    await this.#working;
    clearTimeout(late);
  }

  async #work(): Promise<void> {
    while (!this.#stopping || this.#inProgress.size > 0) {
      const seen = this.#wakes;
      try {
        if (await this.#pass()) await sleep(batchDelay);
      } catch (error) {
        this.#options.log.warn({ err: error }, 'e-mails wait');
      }
      if (seen !== this.#wakes) continue;
      this.#pause = startPause(pollInterval);
      await this.#pause.over;
    }
  }

  /**
   * Records outcomes and claims e-mails. Returns whether to wait briefly before the next pass, so that more e-mails are
   * claimed in one batch.
   */
  async #pass(): Promise<boolean> {
    const tried = this.#ended;
    this.#ended = [];
    if (tried.length > 0) await this.#record(tried);
    await this.#renewClaims();
    const { database, mailer, rateLimit } = this.#options;
    const free = this.#stopping ? 0 : mailer.atOnce - this.#inProgress.size;
    if (free === 0) return false;
    const { emails, delayed } = await claimEmails(database, free, rateLimit);
    if (delayed > 0) this.wake();
    for (const email of emails) {
      this.#inProgress.add(email.id);
      void sendOne(email, this.#options, this.#halt.signal).then((outcome) => {
        this.#ended.push(outcome);
        this.wake();
      });
    }
    return tried.length > 0 && emails.length < free;
  }

  /**
   * Renews the claims of this sender before a claim. After a loss of the database, an expired claim of this sender
   * would look like that of another sender.
   */
  async #renewClaims(): Promise<void> {
    if (this.#inProgress.size === 0 || performance.now() - this.#renewedAt <= renewEvery) return;
    await renewClaims(this.#options.database, [...this.#inProgress]);
    this.#renewedAt = performance.now();
  }

  /**
   * Records the outcomes. An e-mail without a recorded outcome stays in progress and is not sent again. When the
   * process stops, its claim expires.
   */
  async #record(tried: readonly AttemptedEmail[]): Promise<void> {
    try {
      await recordOutcomes(this.#options.database, tried);
    } catch (error) {
      // When a batch fails, each outcome is recorded alone, so that one faulty row does not prevent recording the
      // others.
      if (tried.length > 1) await Promise.all(tried.map((each) => this.#record([each])));
      else this.#recordLater(tried, error);
      return;
    }
    for (const { email, status } of tried) {
      this.#inProgress.delete(email.id);
      instruments.emails.add(1, { 'shop.email.kind': email.kind, 'shop.outcome': counted[status] });
    }
  }

  #recordLater(tried: readonly AttemptedEmail[], error: unknown): void {
    this.#options.log.warn({ err: error }, 'an e-mail cannot be marked yet');
    if (this.#stopping) for (const { email } of tried) this.#inProgress.delete(email.id);
    else this.#ended.push(...tried);
  }
}
