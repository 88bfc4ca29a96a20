// Runs rounds: customers shop while a fault is injected, and afterwards everything is counted.
import { writeSync } from 'node:fs';
import { expect } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { slowness } from '@shop/shared/testing';
import { answerViolations, type Interruption } from './answers.ts';
import { movesOf } from './archive.ts';
import { startShopping } from './buyers.ts';
import { violations } from './checker.ts';
import type { Deployment } from './deployment.ts';
import { type Fault, pause } from './fault.ts';
import { isFailure, type Journal } from './journal.ts';
import { createRandom } from './random.ts';
import { unrest } from './unrest.ts';

export const stockEach = 100_000;
const productCount = 12;
/**
 * Milliseconds after the end of a fault within which the shop recovers by itself, on the machine that pace.ts names.
 */
const promised = 10_000;

export interface RoundsOptions<S extends Deployment> {
  readonly system: S;
  /** The records of all rounds, because the checker counts everything since the start. */
  readonly journal: Journal;
  /** Milliseconds after which a round no longer waits for the end of all work. */
  readonly patience: number;
}

export class Rounds<S extends Deployment> {
  readonly #system: S;
  readonly #journal: Journal;
  readonly #patience: number;
  readonly #initialStock = new Map<string, number>();

  constructor({ system, journal, patience }: RoundsOptions<S>) {
    this.#system = system;
    this.#journal = journal;
    this.#patience = patience;
  }

  /** Adds products to the catalogue, and returns their ids in ascending order. */
  async addProducts(count: number, stock: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId()).sort();
    await this.#system.admin.query(
      `WITH made AS (
         INSERT INTO catalogue.products (id, name, brand, category, price_minor, status, stock)
         SELECT id, 'Product ' || n, 'Brand', 'Category', 100 * n, 'active', $2
           FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, n) RETURNING id
       )
       INSERT INTO catalogue.stock_ledger (product_id, kind, quantity, stock_after, promised_after)
       SELECT id, 'received', $2, $2, 0 FROM made WHERE $2 > 0`,
      [ids, stock],
    );
    for (const id of ids) this.#initialStock.set(id, stock);
    return ids;
  }

  keep(local: Journal): void {
    this.#journal.answers.push(...local.answers);
    this.#journal.orders.push(...local.orders);
    this.#journal.accounts.push(...local.accounts);
  }

  /** Waits until no work is in progress, then runs all checks. */
  async expectSound(): Promise<void> {
    const deadline = performance.now() + this.#patience;
    // The database and the broker must be available, too.
    const look = (): Promise<string[]> => unrest(this.#system).catch((error: unknown) => [String(error)]);
    let moving = await look();
    while (moving.length > 0 && performance.now() < deadline) {
      await pause(250);
      moving = await look();
    }
    if (moving.length > 0) writeSync(1, `no quiet: ${moving.join(', ')}\n`);
    expect(moving).toEqual([]);
    expect(await this.violations()).toEqual([]);
  }

  violations(): Promise<string[]> {
    return violations(this.#system, this.#journal, this.#initialStock);
  }

  /** Injects the fault while customers shop, and expects that the shop recovers in time and that nothing is lost. */
  async run(fault: Fault<S>, seed: number): Promise<void> {
    const system = this.#system;
    const { name } = fault;
    const productIds = await this.addProducts(productCount, stockEach);
    const random = createRandom(seed);
    const paceBefore = slowness();
    const { gatewayUrl, buyers, payer } = system;
    const shopping = startShopping({ gatewayUrl, buyers, payer, productIds, seed });
    const before = await movesOf(system.admin);
    let evidence: string | undefined;
    let [from, ended, ready] = [0, 0, 0];
    try {
      await pause(random.integer(300, 800));
      from = performance.now();
      const { journal } = shopping;
      evidence = await fault.inject({ system, random, productIds, journal });
      ended = performance.now();
      await system.untilReady(this.#patience);
      ready = performance.now();
      await fault.repair?.(system);
      await pause(700);
    } finally {
      await shopping.stop();
      this.keep(shopping.journal);
    }
    if (evidence === undefined) writeSync(1, `${name}: was not seen to happen\n`);
    expect(evidence).toEqual(expect.any(String));
    expect(shopping.journal.orders.some(({ orderId }) => orderId !== undefined)).toBe(true);
    await this.expectSound();
    const moves = await movesOf(system.admin);
    const [archived, restored] = [moves.archived - before.archived, moves.restored - before.restored];
    expect(archived).toBeGreaterThan(0);
    await fault.removeEffects?.(system);

    const pace = Math.max(paceBefore, slowness());
    const allowed = (fault.recovery ?? promised) * pace;
    const lastFailure = shopping.journal.answers.findLast(isFailure)?.at ?? ended;
    const well = Math.max(ready, lastFailure) - ended;
    writeSync(
      1,
      `${name}: ${evidence}; ${archived} orders archived, ${restored} restored; ` +
        `well after ${inSeconds(well)} of ${inSeconds(allowed)} s (pace ${pace.toFixed(1)})\n`,
    );
    const interruption: Interruption = { interrupts: fault.interrupts, from, until: ended + allowed };
    expect(answerViolations(shopping.journal.answers, interruption)).toEqual([]);
    expect(well).toBeLessThanOrEqual(allowed);
  }
}

const inSeconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);
