// The states of an order: its permitted transitions, and the callers who may make them.
import type { Caller } from '@shop/shared/auth';

export const statuses = ['pending', 'processing', 'shipped', 'delivered', 'cancelled'] as const;
export type OrderStatus = (typeof statuses)[number];

/** All permitted transitions. */
const transitions: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['processing', 'cancelled'],
  processing: ['shipped', 'cancelled'],
  shipped: ['delivered'],
  delivered: [],
  cancelled: [],
};

export function mayBecome(from: OrderStatus, to: OrderStatus): boolean {
  return transitions[from].includes(to);
}

interface Action {
  readonly name: string;
  readonly to: OrderStatus;
  readonly by: readonly ('owner' | 'fulfilment')[];
}

const actions: readonly Action[] = [
  { name: 'cancel', to: 'cancelled', by: ['owner', 'fulfilment'] },
  { name: 'process', to: 'processing', by: ['fulfilment'] },
  { name: 'ship', to: 'shipped', by: ['fulfilment'] },
  { name: 'deliver', to: 'delivered', by: ['fulfilment'] },
];

/**
 * Returns the actions that this caller may perform on an order in this state, as the last segments of their paths.
 * @param isDue whether the order has to be paid before it can be processed
 */
export function allowedActions(caller: Caller, accountId: string, status: OrderStatus, isDue: boolean): string[] {
  const may = { owner: caller.accountId === accountId, fulfilment: caller.scopes.has('orders:fulfil') };
  return actions
    .filter(({ to, by }) => by.some((who) => may[who]) && mayBecome(status, to) && !(isDue && to === 'processing'))
    .map(({ name }) => name);
}
