// One pass of the sender over a webhook that it has claimed: pings, parked subjects, and the changes after its cursor.
import type { Encryption } from '@shop/shared/auth';
import type { Database } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { type Change, type ChangeFilter, isVisible, toView } from '../feed/change.ts';
import type { ChangePage, ChangeReader } from '../feed/change-reader.ts';
import type { FeedPosition } from '../feed/feed-cursors.ts';
import { pingOf, resetOf } from './control-message.ts';
import { Endpoint } from './endpoint.ts';
import { givenUp } from './explain-deliveries.ts';
import { planRound, toParked } from './plan-round.ts';
import { isInTrouble, pauseAfter } from './retry.ts';
import { runChains, type SendChange } from './run-chains.ts';
import { type Attempt, type SendOptions, sendRequest } from './send-request.ts';
import {
  addAttempt,
  findChanges,
  findParked,
  isUnchanged,
  mostParked,
  type ParkedSubject,
  park,
  retryParked,
  type SentMessage,
  saveProgress,
  unpark,
  unparkAll,
} from './sender-store.ts';
import type { Message } from './sign-request.ts';
import type { SigningKey } from './signing-keys.ts';
import { tellOwner } from './tell-owner.ts';
import { followedBy, openSecrets, type Webhook, webhookScope } from './webhook.ts';
import { countAttempt, measureDelay } from './webhook-metrics.ts';

export interface PassOptions extends SendOptions {
  readonly database: Database;
  readonly reader: ChangeReader;
  readonly encryption: Encryption;
  readonly key: SigningKey;
  /** Returns the present scopes of the owner, which are at most a few seconds old. */
  readonly scopesOf: (webhook: Webhook) => Promise<ReadonlySet<string>>;
  readonly isStopping: () => boolean;
}

/** The largest number of changes of a round. */
const roundSize = 100;
/** Milliseconds after which a webhook whose owner may not have it is looked at again. */
const standstill = 10_000;

/** Sends until nothing is due, and returns the milliseconds after which the webhook is looked at again. */
export async function sendPass(claimed: Webhook, options: PassOptions): Promise<number> {
  const endpoint = new Endpoint(claimed);
  let webhook: Webhook | undefined = claimed;
  while (webhook !== undefined && !endpoint.isStopped && !options.isStopping()) {
    if (webhook.status === 'paused' || webhook.status === 'ended') break;
    const scopes = await options.scopesOf(webhook);
    if (!scopes.has(webhookScope)) return standstill;
    endpoint.continueWith(webhook);
    const pass: Pass = new Pass(webhook, endpoint, followedBy(webhook, scopes), options);
    webhook = webhook.status !== 'active' || webhook.isPingDue ? await pass.ping() : await pass.round();
  }
  return 0;
}

class Pass {
  readonly #webhook: Webhook;
  readonly #endpoint: Endpoint;
  readonly #filter: ChangeFilter;
  readonly #options: PassOptions;
  readonly #secrets: readonly string[];

  constructor(webhook: Webhook, endpoint: Endpoint, filter: ChangeFilter, options: PassOptions) {
    this.#webhook = webhook;
    this.#endpoint = endpoint;
    this.#filter = filter;
    this.#options = options;
    this.#secrets = openSecrets(options.encryption, webhook);
  }

  /** Returns the webhook as it is after the ping; undefined when nothing is sent after it. */
  async ping(): Promise<Webhook | undefined> {
    const attempt = await this.#send('ping', pingOf(this.#webhook));
    if (attempt === undefined) return undefined;
    const saved = await this.#save(this.#webhook, { isAlone: true });
    return attempt.error === undefined ? saved : undefined;
  }

  /** Returns the webhook as it is after the round; undefined when nothing more is due. */
  async round(): Promise<Webhook | undefined> {
    const { database, isStopping } = this.#options;
    const { id, collapse, position } = this.#webhook;
    const isProbe = this.#endpoint.isInTrouble;
    const parked = await findParked(database.pool, id);
    const due = isProbe ? longestDue(parked) : parked.filter(({ nextAttemptAt }) => nextAttemptAt <= new Date());
    const isWaiting = parked.length >= mostParked || (isProbe && due.length > 0);
    const page = await this.#read(isWaiting ? 0 : isProbe ? 1 : roundSize);
    // Nothing that happened after a pause is sent before the webhook continues.
    if (!(await isUnchanged(database.pool, this.#webhook))) return undefined;
    const stored = await findChanges(
      database.pool,
      due.flatMap((subject) => [subject.position, ...subject.later]),
    );
    if (page === undefined || due.some((subject) => !stored.has(subject.position))) return this.#reset();
    const again = due.map((subject) => ({ subject, changes: this.#visible(subject, stored) }));
    const { chains, extended } = planRound(parked, again, page.changes, { collapse, isProbe });
    if (chains.length === 0 && page.next.position === position) return undefined;

    const results = await runChains(chains, {
      ...{ endpoint: this.#endpoint, isStopping },
      send: (change, about) => this.#sendChange(change, about),
    });
    const now = new Date();
    const retryAt = (failures: number): Date => new Date(now.getTime() + pauseAfter(failures));
    const after = results.map((result) => ({ chain: result.chain, parked: toParked(result, retryAt, now) }));
    return this.#save(page.next, {
      parked: [...after.flatMap((one) => one.parked ?? []), ...extended],
      unparked: after.filter((one) => one.parked === undefined).map(({ chain }) => chain),
    });
  }

  /** Tells the receiver that changes are missing, and continues at the head of the feed. */
  async #reset(): Promise<Webhook | undefined> {
    const head = await this.#options.reader.now();
    const attempt = await this.#send('reset', resetOf(this.#webhook));
    if (attempt === undefined) return undefined;
    if (attempt.error === undefined) return this.#save(head, { isReset: true });
    await this.#save(this.#webhook, { isAlone: true });
    return undefined;
  }

  /** Returns the next changes; undefined when they are no longer kept. */
  async #read(limit: number): Promise<ChangePage | undefined> {
    const { epoch, position } = this.#webhook;
    if (limit === 0) {
      const head = await this.#options.reader.now();
      return head.epoch === epoch ? { changes: [], next: { epoch, position }, hasMore: true } : undefined;
    }
    try {
      return await this.#options.reader.read({ epoch, position }, this.#filter, limit);
    } catch (error) {
      if (error instanceof Problem && error.code === 'cursor-expired') return undefined;
      throw error;
    }
  }

  #visible({ position, later }: ParkedSubject, stored: ReadonlyMap<number, Change>): Change[] {
    const changes = [position, ...later].flatMap((one) => stored.get(one) ?? []);
    return changes.filter((change) => isVisible(change, this.#filter));
  }

  async #sendChange(change: Change, { isRetry, isLast }: Parameters<SendChange>[1]): ReturnType<SendChange> {
    const message = { id: change.eventId, body: JSON.stringify(toView(change)) };
    const attempt = await this.#send('change', message, { isRetry, isLast });
    if (attempt !== undefined && attempt.error === undefined) measureDelay(change);
    return attempt;
  }

  /** Sends once. Returns undefined when the process stops before the response. */
  async #send(
    kind: SentMessage['kind'],
    message: Message,
    { isRetry = false, isLast = false } = {},
  ): Promise<Attempt | undefined> {
    const { database, key, halt } = this.#options;
    const { id, url } = this.#webhook;
    const attempt = await sendRequest(url, message, { secrets: this.#secrets, key }, this.#options).catch((error) => {
      if (halt.aborted) return undefined;
      throw error;
    });
    if (attempt === undefined) return undefined;
    this.#endpoint.record(attempt, isRetry);
    countAttempt(kind, attempt);
    const { error, status } = attempt;
    const isGivenUp = error !== undefined && isLast && status !== 410;
    const shown = isGivenUp ? { ...attempt, error: `${givenUp} after 3 days: ${error}` } : attempt;
    await addAttempt(database, id, { kind, id: message.id }, shown);
    return attempt;
  }

  #save({ epoch, position }: FeedPosition, outcome: Outcome): Promise<Webhook | undefined> {
    const { isAlone = false, isReset = false, parked = [], unparked = [] } = outcome;
    const webhook = this.#webhook;
    const { state, stage } = this.#endpoint.result(isAlone);
    const progress = { epoch, position, state, ...(isReset && { firstPosition: position }) };
    return this.#options.database.transaction(async (tx) => {
      const saved = await saveProgress(tx, webhook, progress);
      if (saved === undefined) return undefined;
      if (isReset) await unparkAll(tx, webhook.id);
      if (isInTrouble(webhook) && !isInTrouble(saved)) await retryParked(tx, webhook.id);
      await park(tx, webhook.id, parked);
      await unpark(tx, webhook.id, unparked);
      if (stage !== undefined) await tellOwner(tx, saved, stage);
      return saved;
    });
  }
}

interface Outcome {
  /** Whether nothing else can be sent before a message that failed. */
  readonly isAlone?: boolean;
  readonly isReset?: boolean;
  readonly parked?: readonly ParkedSubject[];
  readonly unparked?: readonly Pick<ParkedSubject, 'source' | 'subject'>[];
}

/** Returns the subject that has been due for the longest time. So the one that fails alone does not hide that others succeed. */
function longestDue(parked: readonly ParkedSubject[]): readonly ParkedSubject[] {
  return parked.toSorted((one, other) => one.nextAttemptAt.getTime() - other.nextAttemptAt.getTime()).slice(0, 1);
}
