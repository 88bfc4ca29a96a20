// Sends webhooks: claims those to which something is due, and runs a pass over each, all at the same time.
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Encryption } from '@shop/shared/auth';
import type { Database } from '@shop/shared/database';
import type { Log } from '@shop/shared/runtime';
import type { Agent } from 'undici';
import type { ChangeReader } from '../feed/change-reader.ts';
import { createGuardedAgent } from './address-guard.ts';
import type { Network } from './address-rules.ts';
import type { PresentScopes, ScopesOf } from './present-scopes.ts';
import { sendPass } from './send-pass.ts';
import { claimWebhooks, hasActiveWebhooks, releaseWebhook, renewEvery, renewLeases } from './sender-store.ts';
import type { SigningKey } from './signing-keys.ts';
import type { Webhook } from './webhook.ts';
import { observeWebhooks } from './webhook-metrics.ts';

export interface SenderOptions {
  readonly database: Database;
  readonly reader: ChangeReader;
  readonly log: Log;
  readonly encryption: Encryption;
  readonly key: SigningKey;
  readonly presentScopes: PresentScopes;
  /** Networks that requests may reach although they are not public. */
  readonly allowed: readonly Network[];
  /** The public origin of the shop, which gets no webhooks. */
  readonly ownOrigin: string;
}

/** The largest number of webhooks that a process sends at the same time. */
const mostPasses = 200;
/** Milliseconds for a whole request. */
const requestWithin = 15_000;
/** Milliseconds after which retries that became due are found. A new change is found earlier. */
const lookEvery = 1_000;
/** Milliseconds between two claims, so that changes that arrive together are sent in one pass. */
const gatherFor = 25;
/** Milliseconds for which the scopes of an owner are valid. */
const scopesFor = 2_000;
/** Milliseconds after a fault of the shop, such as that accounts does not answer. */
const pauseAfterFault = 2_000;
/** Milliseconds that a stop waits for the requests in progress. */
const finishWithin = 2_000;

export interface Sender {
  /** Stops. What is not sent then is sent by another process. */
  close(): Promise<void>;
}

export function startSender(options: SenderOptions): Sender {
  observeWebhooks(options.database);
  return new WebhookSender(options);
}

class WebhookSender implements Sender {
  readonly #options: SenderOptions;
  readonly #agent: Agent;
  readonly #passes = new Map<string, Promise<void>>();
  readonly #scopes = new Map<string, { readonly since: number; readonly scopes: Promise<ScopesOf> }>();
  readonly #halt = new AbortController();
  readonly #stop = new AbortController();
  readonly #working: Promise<void>;
  /** Ends the present pause. */
  #wake = new AbortController();
  #renewedAt = performance.now();

  constructor(options: SenderOptions) {
    this.#options = options;
    const { allowed, ownOrigin } = options;
    const resolver = new Resolver({ timeout: 3_000, tries: 2 });
    this.#agent = createGuardedAgent({ allowed, ownOrigin, resolver, connectWithin: requestWithin });
    this.#working = this.#work();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    const late = setTimeout(() => this.#halt.abort(), finishWithin);
    await this.#working;
    clearTimeout(late);
    await this.#agent.destroy();
  }

  async #work(): Promise<void> {
    const { database, reader, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      try {
        const seen = await reader.now();
        await this.#claim();
        const signal = AbortSignal.any([this.#wake.signal, this.#stop.signal]);
        // Without an active webhook nobody waits for changes, so the feed is not read.
        const isFollowed = await hasActiveWebhooks(database.pool);
        await (isFollowed ? reader.wait(seen, lookEvery, signal) : pause(lookEvery, signal));
      } catch (error) {
        log.warn({ err: error }, 'webhooks wait');
        await pause(lookEvery);
      }
      await pause(gatherFor);
    }
    await Promise.all(this.#passes.values());
  }

  async #claim(): Promise<void> {
    const { pool } = this.#options.database;
    if (this.#passes.size > 0 && performance.now() - this.#renewedAt > renewEvery) {
      await renewLeases(pool, [...this.#passes.keys()]);
      this.#renewedAt = performance.now();
    }
    const free = mostPasses - this.#passes.size;
    if (free === 0) return;
    for (const webhook of await claimWebhooks(pool, free)) {
      if (!this.#passes.has(webhook.id)) this.#passes.set(webhook.id, this.#run(webhook));
    }
  }

  /** Runs a pass; never rejects. */
  async #run(webhook: Webhook): Promise<void> {
    const { database, log, reader, encryption, key } = this.#options;
    const about = { webhook: webhook.id };
    const pass = sendPass(webhook, {
      ...{ database, reader, encryption, key, agent: this.#agent, within: requestWithin, halt: this.#halt.signal },
      scopesOf: (one) => this.#scopesOf(one),
      isStopping: () => this.#stop.signal.aborted,
    });
    const rest = await pass.catch((error: unknown) => {
      log.warn({ ...about, err: error }, 'a webhook waits');
      return pauseAfterFault;
    });
    await releaseWebhook(database.pool, webhook.id, rest).catch((error: unknown) =>
      log.warn({ ...about, err: error }, 'a webhook waits until its lease ends'),
    );
    this.#passes.delete(webhook.id);
    // The next claim finds what became due during the pass.
    this.#wake.abort();
  }

  async #scopesOf(webhook: Webhook): Promise<ReadonlySet<string>> {
    const now = performance.now();
    for (const [id, { since }] of this.#scopes) if (now - since > scopesFor) this.#scopes.delete(id);
    const { ownerId } = webhook;
    const known = this.#scopes.get(ownerId) ?? { since: now, scopes: this.#options.presentScopes([ownerId]) };
    this.#scopes.set(ownerId, known);
    try {
      return (await known.scopes)(webhook);
    } catch (error) {
      this.#scopes.delete(ownerId);
      throw error;
    }
  }
}

/** Resolves after the time, or when the signal is aborted. */
const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {});
