// POST /internal/reservations/settle: resolves a reservation. The reply says whether an order has it. If none has it,
// none ever will.
import type { Operation } from '../context.ts';
import { resolveToOrder } from '../order/reservation-claim.ts';

/** 200 with `{ state: "exists", orderId }` or `{ state: "absent" }`. Either answer is final. */
export const resolveReservation: Operation<'resolveReservation'> = async ({ body }, { database }) => {
  const orderId = await resolveToOrder(database, body);
  return { status: 200, body: orderId === null ? { state: 'absent' } : { state: 'exists', orderId } };
};
