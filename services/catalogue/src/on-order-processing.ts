// order.processing.v1: the warehouse has begun to process the order, so its account holds these units no longer.
import type { EventHandler } from '@shop/shared/events';
import { endHold } from './reservation.ts';

/** In whatever sequence the events about the order arrive: a reservation that is not counted stays as it is. */
export const onOrderProcessing: EventHandler<'order.processing.v1'> = async ({ data }, tx) => {
  await endHold(tx, data.reservationId);
};
