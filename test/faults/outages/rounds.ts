// Runs rounds: customers shop while a fault is injected, and afterwards everything is counted.
import { writeSync } from 'node:fs';
import { slowness } from '@shop/shared/testing';
import { paceVariable } from '../../../shared/src/testing/run-state.ts';
import { answerViolations, type Interruption, noInterruption } from './answers.ts';
import { startShopping } from './buyers.ts';
import { keepStates } from './checked.ts';
import { violations } from './checker.ts';
import type { Deployment } from './deployment.ts';
import { type Fault, pause } from './fault.ts';
import { Follower } from './follower.ts';
import { isFailure, type Journal, type Recorded } from './journal.ts';
import { openSale } from './prices.ts';
import { addProducts } from './products.ts';
import { createRandom, type Random } from './random.ts';
import { keepReading } from './readers.ts';
import { untilQuiet } from './unrest.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

export const stockEach = 100_000;
const productCount = 12;
/**
 * Milliseconds after the end of a fault within which the shop recovers by itself, on the machine that pace.ts names.
 */
const promised = 10_000;

/** Half of the products weigh something, and a third of them have another tax. */
const setFacts = `
  UPDATE catalogue.products SET weight_grams = CASE WHEN price_minor % 200 = 0 THEN 400 END,
    tax_category = CASE WHEN price_minor % 300 = 0 THEN 'reduced' ELSE 'standard' END
  WHERE id = ANY ($1::uuid[])`;

export interface RoundsOptions<S extends Deployment> {
  readonly system: S;
  /**
   * The records of all rounds, because the checker counts everything since the start. Its replies are those that no
   * round has judged, such as those to registrations.
   */
  readonly journal: Journal;
  /** Milliseconds after which a round no longer waits for the end of all work. */
  readonly patience: number;
  /** Whether further customers read all the time, also while the rest of the work is done. */
  readonly readers?: boolean;
  /** Gets a line about each round. */
  readonly log?: (line: string) => void;
}

/** What came of one round. */
export interface Round {
  /** What shows that the fault had an effect; undefined when it had none. */
  readonly evidence: string | undefined;
  /** What the shop did and must not do; empty when it did nothing of the kind. */
  readonly violations: readonly string[];
  /** Milliseconds between the end of the fault and the recovery of the shop. */
  readonly recovery: number;
  /** The statuses of the replies that the customers got. 0 stands for no reply. */
  readonly statuses: readonly number[];
  /** The slowness of the machine after the round. */
  readonly pace: number;
}

export class Rounds<S extends Deployment> {
  readonly #system: S;
  readonly #journal: Journal;
  readonly #patience: number;
  readonly #readers: boolean;
  readonly #log: (line: string) => void;
  readonly #initialStock = new Map<string, number>();

  constructor(options: RoundsOptions<S>) {
    const { system, journal, patience, readers = false, log = (line) => writeSync(1, `${line}\n`) } = options;
    this.#system = system;
    this.#journal = journal;
    this.#patience = patience;
    this.#readers = readers;
    this.#log = log;
  }

  /** Adds products to the catalogue, and returns their ids in ascending order. */
  async addProducts(count: number, stock: number): Promise<string[]> {
    const { admin } = this.#system;
    const ids = await addProducts(admin, count, stock);
    await admin.query(setFacts, [ids]);
    for (const id of ids) this.#initialStock.set(id, stock);
    return ids;
  }

  keep(local: Journal): void {
    this.#journal.orders.push(...local.orders);
    this.#journal.accounts.push(...local.accounts);
  }

  /** Waits until no work is in progress, then runs all checks. Returns what they find. */
  async violationsAtRest(): Promise<string[]> {
    return this.#violationsBeside(await this.#untilQuiet());
  }

  #untilQuiet(): Promise<string[]> {
    return untilQuiet(this.#system, this.#patience);
  }

  /** @param moving the work that is still in progress */
  async #violationsBeside(moving: readonly string[]): Promise<string[]> {
    return moving.length > 0
      ? moving.map((work) => `still in progress after ${inSeconds(this.#patience)} s: ${work}`)
      : this.violations();
  }

  /**
   * Drops the records of everything so far, which must have been checked without a violation. Later checks do not read
   * it again; `changedStates` does.
   */
  async dropChecked(): Promise<void> {
    await keepStates(this.#system);
    for (const list of Object.values(this.#journal)) list.length = 0;
    this.#initialStock.clear();
  }

  async violations(): Promise<string[]> {
    return [
      ...this.#system.all().flatMap((process) => process.accidents()),
      ...answerViolations(this.#journal.answers.splice(0), noInterruption),
      ...(await violations(this.#system, this.#journal, this.#initialStock)),
    ];
  }

  /** Starts those who follow the changes: a customer and an endpoint of staff. */
  async #startFollowers(random: Random): Promise<readonly (Follower | WebhookEndpoint)[]> {
    const { gatewayUrl, admin, buyers, staff } = this.#system;
    const followers = [
      new Follower(gatewayUrl, admin, random.pick(buyers)),
      new WebhookEndpoint(gatewayUrl, admin, staff),
    ];
    for (const follower of followers) await follower.start(random);
    return followers;
  }

  /**
   * Injects the fault while customers shop, and finds out whether the shop recovers in time and nothing is lost.
   * @param paceBefore the slowness of the machine before the round. The time limits of the round follow it.
   */
  async run(fault: Fault<S>, seed: number, paceBefore = slowness()): Promise<Round> {
    const system = this.#system;
    const { name } = fault;
    process.env[paceVariable] = String(paceBefore);
    const productIds = await this.addProducts(productCount, stockEach);
    const random = createRandom(seed);
    const { gatewayUrl, buyers, payer, staff } = system;
    const sale = await openSale(gatewayUrl, staff, productIds, seed);
    const followers = await this.#startFollowers(random);
    const began = performance.now();
    const shopping = startShopping({ gatewayUrl, buyers, payer, productIds, seed, sale });
    const { journal } = shopping;
    const over = new AbortController();
    const readers = this.#readers ? buyers : [];
    const reading = keepReading({ gatewayUrl, buyers: readers, productIds, seed, journal }, over.signal);
    let evidence: string | undefined;
    let [from, ended, ready] = [0, 0, 0];
    let moving: readonly string[] = [];
    try {
      await pause(random.integer(300, 800));
      from = performance.now();
      evidence = await fault.inject({ system, random, productIds, journal });
      ended = performance.now();
      await system.untilReady(this.#patience);
      ready = performance.now();
      await fault.repair?.(system);
      await pause(700);
      await shopping.stop();
      // Readers go on meanwhile, because some work takes long, such as an e-mail whose process has died.
      moving = await this.#untilQuiet();
    } finally {
      over.abort();
      await Promise.all([shopping.stop(), reading]);
      this.keep(journal);
    }
    const stopped = performance.now();
    const answers = [...this.#journal.answers.splice(0), ...journal.answers];
    const violations = await this.#violationsBeside(moving);
    for (const follower of followers) violations.push(...(await follower.end()));
    const checked = performance.now();
    await fault.removeEffects?.(system);
    const replaced = system.mails.replaced();

    const paceAfter = slowness();
    const pace = Math.max(paceBefore, paceAfter);
    const allowed = (fault.recovery ?? promised) * pace;
    const recovery = Math.max(ready, lastFailure(answers, ended)) - ended;
    const inTime = `well after ${inSeconds(recovery)} of ${inSeconds(allowed)} s`;
    this.#log(
      `${name}: ${evidence ?? 'was not seen to happen'}; ${inTime} (pace ${pace.toFixed(1)}); ${answers.length} requests in ${inSeconds(stopped - began)} s, ` +
        `checked in ${inSeconds(checked - stopped)} s`,
    );
    const interruption: Interruption = { interrupts: fault.interrupts, from, until: ended + allowed };
    violations.push(...answerViolations(answers, interruption, fault.refusals));
    if (!journal.orders.some(({ orderId }) => orderId !== undefined)) violations.push('no order was accepted');
    if (fault.repeatsMails !== true) violations.push(...replaced.map((name) => `the e-mail ${name} was sent again`));
    if (recovery > allowed) violations.push(inTime);
    const statuses = answers.map(({ status }) => status);
    return { evidence, violations, recovery, statuses, pace: paceAfter };
  }
}

/**
 * The time of the last failure: the start of a request that began after the fault had ended, and the end of one that
 * began before. The gateway ends each request after 10 s, so that the latter is within `promised`.
 */
export function lastFailure(answers: readonly Recorded[], ended: number): number {
  return Math.max(...answers.filter(isFailure).map(({ at, until }) => (at < ended ? until : at)), 0);
}

const inSeconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);
