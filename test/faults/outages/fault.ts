// A fault, and the data for its injection.
import type { ProblemCode } from '@shop/shared/problem';
import { atThisPace } from '@shop/shared/testing';
import type { Deployment } from './deployment.ts';
import type { Journal } from './journal.ts';
import type { Random } from './random.ts';

/**
 * The effect on requests. `nothing`: every order is answered as in normal operation. The others permit a reply while the
 * fault lasts and until the shop has recovered. `database`: 503, and 504, because the time limits of a service add up to
 * that of the gateway: 3 s for a connection and 7 s for a statement. `service`: also 502, because a process ends while
 * it answers. `gateway`: also none.
 */
export type Interrupts = 'nothing' | 'database' | 'service' | 'gateway';

export interface Fault<S extends Deployment = Deployment> {
  readonly name: string;
  readonly interrupts: Interrupts;
  /**
   * Milliseconds within which the shop has recovered; 10,000 unless more processes have to start concurrently than two
   * cores can handle.
   */
  readonly recovery?: number;
  /** The refusals with 409 that the fault causes. */
  readonly refusals?: readonly ProblemCode[];
  /** Whether e-mails may be sent twice, because their sender dies or loses its database for half a minute. */
  readonly repeatsMails?: boolean;
  /**
   * Injects the fault while buyers shop, removes it, and resolves to the evidence; undefined when the fault had no
   * effect.
   * @throws Error when the shop does not react to the effect as it must
   */
  inject(scene: Scene<S>): Promise<string | undefined>;
  /** Repairs, while customers shop, what the fault has left broken. Called when the shop has recovered. */
  repair?(system: S): Promise<void>;
  /** Removes effects that must last until everything has been counted. */
  removeEffects?(system: S): Promise<void>;
}

export interface Scene<S extends Deployment = Deployment> {
  readonly system: S;
  readonly random: Random;
  readonly productIds: readonly string[];
  /** The replies that the buyers get during the fault. */
  readonly journal: Journal;
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Whether the condition becomes true within half a minute, or the given time, at the pace of the machine. */
export async function seen(happened: () => boolean | Promise<boolean>, within = 30_000): Promise<boolean> {
  const deadline = performance.now() + atThisPace(within);
  while (!(await happened())) {
    if (performance.now() > deadline) return false;
    await pause(50);
  }
  return true;
}

/**
 * Whether orders were placed whose events had to wait. This shows that the broker is unavailable and orders are not
 * affected.
 */
export function eventsWait(system: Deployment): Promise<boolean> {
  return seen(async () => (await countRows(system, 'orders.outbox WHERE published_at IS NULL')) >= 20);
}

/** @param from the table, and a condition if needed */
export async function countRows(system: Deployment, from: string): Promise<number> {
  const { rows } = await system.admin.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${from}`);
  return rows[0]?.count ?? 0;
}
