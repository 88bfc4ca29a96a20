// What a failover has lost, as the comparison of the services finds it.
import type { Subject } from '../finding.ts';

export interface Loss extends Subject {
  /** What was lost. */
  readonly check: string;
  readonly detail: string;
  /** What to do. A loss that can be repaired states what the repair does. */
  readonly remedy: string;
  /** Repairs the loss, with the functions of the services. Absent when this needs a decision of the operator. */
  readonly repair?: () => Promise<Repaired>;
}

/** What the repair has done, or why it was refused. `orderId` is another order that the repair has corrected. */
export type Repaired = { readonly done: string; readonly orderId?: string } | { readonly refused: string };

/** The reason that a repair enters in the stock ledger and in the history of orders. */
export const repairReason = 'Repaired after a failover of the database.';
