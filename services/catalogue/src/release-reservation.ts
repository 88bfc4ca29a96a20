// POST /internal/reservations/{reservationId}/release: the orders service has settled that no order will take a reservation.
import type { OperationRequest, Reply } from '@shop/shared/http';
import type { CatalogueContext } from './context.ts';
import { giveStockBack, lockReservation } from './reservation.ts';

/** 204, also when there is nothing to release any more. */
export async function releaseReservation(request: OperationRequest, { database }: CatalogueContext): Promise<Reply> {
  const { reservationId = '' } = request.path;
  await database.transaction(async (tx) => {
    const reservation = await lockReservation(tx, reservationId);
    if (reservation?.state === 'held') await giveStockBack(tx, reservationId, null);
  });
  return { status: 204 };
}
