// The states of a return: its permitted transitions, and the callers who may make them.
import type { Caller } from '@shop/shared/auth';

export const returnStatuses = ['requested', 'approved', 'received', 'refused', 'withdrawn'] as const;
export type ReturnStatus = (typeof returnStatuses)[number];

/** All permitted transitions. Staff can receive a parcel that they have not approved. */
const transitions: Readonly<Record<ReturnStatus, readonly ReturnStatus[]>> = {
  requested: ['approved', 'refused', 'received', 'withdrawn'],
  approved: ['refused', 'received', 'withdrawn'],
  received: [],
  refused: [],
  withdrawn: [],
};

export function mayReturnBecome(from: ReturnStatus, to: ReturnStatus): boolean {
  return transitions[from].includes(to);
}

interface Action {
  readonly name: string;
  readonly to: ReturnStatus;
  readonly byOwner?: true;
}

const actions: readonly Action[] = [
  { name: 'approve', to: 'approved' },
  { name: 'refuse', to: 'refused' },
  { name: 'receive', to: 'received' },
  { name: 'withdraw', to: 'withdrawn', byOwner: true },
];

/** Returns the actions that this caller may perform on a return in this state, as the last segments of their paths. */
export function allowedReturnActions(caller: Caller, accountId: string, status: ReturnStatus): string[] {
  const isOwner = caller.accountId === accountId;
  const isFulfiller = caller.scopes.has('orders:fulfil');
  return actions
    .filter(({ to, byOwner }) => (isFulfiller || (byOwner && isOwner)) && mayReturnBecome(status, to))
    .map(({ name }) => name);
}
