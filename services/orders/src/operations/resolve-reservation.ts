// POST /internal/reservations/settle: resolves a reservation. The response states whether an order uses it. If no order
// uses it, no order can use it later.
import type { Operation } from '../context.ts';
import { resolveToOrder } from '../order/reservation-claim.ts';

/** Returns 200 with `{ state: "exists", orderId }` or `{ state: "absent" }`. Either result is final. */
export const resolveReservation: Operation<'resolveReservation'> = async ({ body }, { database }) => {
  const orderId = await resolveToOrder(database, body);
  return { status: 200, body: orderId === null ? { state: 'absent' } : { state: 'exists', orderId } };
};
