// What a fault is, and what injecting one needs.
import type { Journal } from './journal.ts';
import type { Random } from './random.ts';
import type { System } from './system.ts';

/**
 * What it takes away from those who order. `nothing`: every order is answered as on any other day. `service`: 502, 503 and 504 may
 * come while the fault lasts and until all is well again. `gateway`: there may be no answer at all.
 */
export type Interrupts = 'nothing' | 'service' | 'gateway';

export interface Fault {
  readonly name: string;
  readonly interrupts: Interrupts;
  /** Milliseconds until all is well again; 10,000 unless more has to be started at once than two cores can. */
  readonly recovery?: number;
  /** Breaks something while buyers shop, mends it, and resolves to what shows that it was broken; undefined when nothing was. */
  inject(scene: Scene): Promise<string | undefined>;
  /** For what stays broken until everything was counted. */
  mend?(system: System): Promise<void>;
}

export interface Scene {
  readonly system: System;
  readonly random: Random;
  readonly productIds: readonly string[];
  /** What the buyers see meanwhile. */
  readonly journal: Journal;
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Whether it happened within half a minute, which is far more than it takes; looks often. */
export async function seen(happened: () => boolean | Promise<boolean>, within = 30_000): Promise<boolean> {
  const deadline = performance.now() + within;
  while (!(await happened())) {
    if (performance.now() > deadline) return false;
    await pause(50);
  }
  return true;
}

/** Whether orders were taken whose events had to wait, which shows that nothing gets to the broker and that orders do not mind. */
export function eventsWait(system: System): Promise<boolean> {
  return seen(async () => (await countRows(system, 'orders.outbox WHERE published_at IS NULL')) >= 20);
}

/** @param from table, and a condition if any */
export async function countRows(system: System, from: string): Promise<number> {
  const { rows } = await system.admin.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${from}`);
  return rows[0]?.count ?? 0;
}
