// order.processing.v1: the warehouse has begun to process the order, so its units no longer count against the account's
// limits.
import type { EventHandler } from '@shop/shared/events';
import { endHold } from '../stock/reservation.ts';

/** The events about an order may arrive in any sequence. A reservation that is not counted stays unchanged. */
export const onOrderProcessing: EventHandler<'order.processing.v1'> = async ({ data }, tx) => {
  await endHold(tx, data.reservationId);
};
