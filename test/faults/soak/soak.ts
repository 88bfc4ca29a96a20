// Runs rounds for hours: customers shop while one fault after the other is injected, on a schedule that a seed sets.
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { slowness } from '@shop/shared/testing';
import { changedStates } from '../outages/checked.ts';
import type { Deployment, ShopOptions } from '../outages/deployment.ts';
import { type Fault, pause } from '../outages/fault.ts';
import type { Journal } from '../outages/journal.ts';
import { createRandom } from '../outages/random.ts';
import { type Round, Rounds } from '../outages/rounds.ts';
import { repliesOf, reportText } from './report.ts';
import { type FaultFigures, readState, type SoakState, writeState } from './state.ts';
import { keepSamples, measure, readSamples } from './usage.ts';

export interface SoakOptions {
  readonly hours: number;
  readonly seed: number;
  /** Keeps the state, so that another start with the same folder continues. */
  readonly folder: string;
  readonly clusters: boolean;
  /** Ends the soak. The round in progress does not count, because processes of the shop may be ending, too. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** What the faults are injected into. */
export interface Scenario<S extends Deployment> {
  readonly start: (options: ShopOptions) => Promise<S>;
  readonly faults: readonly Fault<S>[];
  /** Milliseconds after which a round no longer waits for the end of all work. */
  readonly patience: number;
}

const minute = 60_000;
const buyers = 6;
/**
 * Rounds after which everything that was checked is compared with the state in which it was checked, and the shop is
 * replaced: some checks read all events of the shop, and would take longer with each round.
 */
const comparedEvery = 100;
/**
 * No round begins while the machine is so many times slower than the one for which the limits are stated: the time
 * limits within the shop would pass, and its correct refusals would count as violations.
 */
const mostSlowness = 8;
/** The violations of one round that are kept. */
const mostOfRound = 20;

/** @returns the state at the end, whose report is in the folder */
export async function soak<S extends Deployment>(options: SoakOptions, scenario: Scenario<S>): Promise<SoakState> {
  const run = new Soak(options, scenario, await readState(options.folder, options.seed, options.clusters));
  return run.all();
}

interface Shop<S extends Deployment> {
  readonly system: S;
  readonly rounds: Rounds<S>;
}

class Soak<S extends Deployment> {
  readonly #options: SoakOptions;
  readonly #scenario: Scenario<S>;
  readonly #state: SoakState;
  readonly #began = performance.now();
  readonly #before: number;
  #shop: Promise<Shop<S>> | undefined;
  /** Resolves when the shops before `#shop` have stopped. */
  #stopped: Promise<unknown> = Promise.resolve();
  #now = 'the shop is started';
  /** The slowness of the machine after the last round. A measurement takes a part of a second, so it is used twice. */
  #pace = slowness();

  constructor(options: SoakOptions, scenario: Scenario<S>, state: SoakState) {
    this.#options = options;
    this.#scenario = scenario;
    this.#state = state;
    this.#before = state.milliseconds;
  }

  async all(): Promise<SoakState> {
    const { hours, seed, folder, clusters, signal, print } = this.#options;
    const aborted = once(signal, 'abort');
    this.#state.starts += 1;
    await writeState(folder, this.#state);
    const everyMinute = setInterval(() => print(this.#line()), minute);
    try {
      await Promise.race([this.#rounds(performance.now() + hours * 60 * minute), aborted]);
    } finally {
      clearInterval(everyMinute);
      await this.#stop();
    }
    // The state without a round that was aborted.
    const state = await readState(folder, seed, clusters);
    print(await writeReport(folder, state));
    return state;
  }

  /** Runs rounds until this time, and compares everything that was checked once more. */
  async #rounds(until: number): Promise<void> {
    const { folder, signal } = this.#options;
    let isLast = false;
    do {
      while (this.#pace > mostSlowness && performance.now() < until && !signal.aborted) {
        this.#now = `the machine is ${this.#pace.toFixed(1)} times too slow`;
        await pause(10_000);
        this.#pace = slowness();
      }
      await this.#one();
      if (signal.aborted) return;
      isLast = performance.now() >= until;
      if (isLast && this.#shop !== undefined) await this.#compare((await this.#shop).system);
      this.#state.milliseconds = this.#milliseconds();
      await writeState(folder, this.#state);
      await writeReport(folder, this.#state);
    } while (!isLast && !signal.aborted);
  }

  /** Runs the next round. A shop that has violated a rule is replaced, so that the next rounds do not find it again. */
  async #one(): Promise<void> {
    const state = this.#state;
    const { seed, folder } = this.#options;
    const round = state.rounds;
    this.#shop ??= this.#start();
    const { system, rounds } = await this.#shop;
    const fault = this.#faultOf(round);
    this.#now = `round ${round}, ${fault.name}`;
    const before = state.violations.length;
    const isLastOfShop = round % comparedEvery === comparedEvery - 1;
    this.#figuresOf(fault.name).rounds += 1;
    try {
      const result = await rounds.run(fault, seed * 100_000 + round, this.#pace);
      this.#pace = result.pace;
      this.#keep(fault.name, result);
      await keepSamples(folder, await measure(system, this.#milliseconds() / minute));
      if (state.violations.length === before) await rounds.dropChecked();
    } catch (error) {
      this.#addViolations(fault.name, [`the round ended early: ${String(error)}`]);
      this.#pace = slowness();
    }
    if (isLastOfShop || state.violations.length > before) {
      await this.#compare(system);
      await this.#stop();
    }
    state.rounds += 1;
  }

  async #start(): Promise<Shop<S>> {
    const { seed, folder } = this.#options;
    const journal: Journal = { answers: [], orders: [], accounts: [] };
    const system = await this.#scenario.start({ seed, buyers, journal });
    const log = (line: string): void => appendFileSync(join(folder, 'rounds.log'), `${this.#state.rounds} ${line}\n`);
    return { system, rounds: new Rounds({ system, journal, patience: this.#scenario.patience, readers: true, log }) };
  }

  /** Stops the shop, if there is one. A shop that could not start has stopped itself. */
  async #stop(): Promise<void> {
    const stopping = this.#shop?.then(
      ({ system }) => system.stop(),
      () => {},
    );
    this.#shop = undefined;
    this.#stopped = Promise.all([this.#stopped, stopping]);
    await this.#stopped;
  }

  /** Each pass through the faults has another sequence. */
  #faultOf(round: number): Fault<S> {
    const { faults } = this.#scenario;
    const random = createRandom(this.#options.seed + Math.floor(round / faults.length));
    const left = [...faults];
    const order = faults.map(() => left.splice(random.integer(0, left.length - 1), 1)[0]);
    const fault = order[round % faults.length];
    if (fault === undefined) throw new Error('there are no faults');
    return fault;
  }

  #keep(name: string, { evidence, violations, recovery, statuses }: Round): void {
    const { replies } = this.#state;
    const figures = this.#figuresOf(name);
    figures.recoveries.push(Math.round(recovery));
    if (evidence === undefined) figures.withoutEffect += 1;
    for (const status of statuses) replies[status] = (replies[status] ?? 0) + 1;
    this.#addViolations(name, violations);
  }

  #figuresOf(name: string): FaultFigures {
    const { faults } = this.#state;
    faults[name] ??= { rounds: 0, withoutEffect: 0, recoveries: [] };
    return faults[name];
  }

  #addViolations(fault: string, texts: readonly string[]): void {
    if (this.#options.signal.aborted) return;
    for (const text of texts.slice(0, mostOfRound)) {
      this.#state.violations.push({ round: this.#state.rounds, fault, text: text.slice(0, 1_000) });
      this.#options.print(`VIOLATION in round ${this.#state.rounds}, ${fault}: ${text}`);
    }
  }

  async #compare(system: S): Promise<void> {
    const changed = await changedStates(system.admin).catch((error: unknown) => [`not compared: ${String(error)}`]);
    this.#addViolations('after the checks', changed);
  }

  /** The time of all starts until now. */
  #milliseconds(): number {
    return this.#before + performance.now() - this.#began;
  }

  #line(): string {
    const { rounds, violations } = this.#state;
    const time = new Date().toISOString().slice(0, 19);
    const figures = `${rounds} rounds, ${repliesOf(this.#state)} requests, ${violations.length} violations`;
    return `${time} ${figures}; ${this.#now}`;
  }
}

async function writeReport(folder: string, state: SoakState): Promise<string> {
  const text = reportText(state, await readSamples(folder));
  await writeFile(join(folder, 'report.md'), text);
  return text;
}
