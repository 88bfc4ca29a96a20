// POST /v1/orders: reserves the stock in the catalogue, then places the order in one transaction of its own.
import { violatedConstraint } from '@shop/shared/database';
import { idempotent, type OperationRequest, type Result, requireCaller, storedResponse } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Operation, OrdersContext } from '../context.ts';
import { type CalculatedLine, calculateOrder, findTerms } from '../order/calculate-order.ts';
import { checkPrices, readExpectedPrices } from '../order/check-prices.ts';
import { countRefusal } from '../order/measure-orders.ts';
import { placeOrder, UsedUpError } from '../order/place-order.ts';
import { totalTooLarge, unverified } from '../order/pricing-problems.ts';
import {
  type ReservedLine,
  releaseUnusedReservation,
  reservationIdFor,
  reserveStock,
  toWantedLines,
  type WantedLine,
} from '../order/stock-reservation.ts';

/** The pattern also matches the keys of hash partitions, such as `reservations_7_pkey`. */
const reservationKey = /^reservations(_\d+)?_pkey$/;

/**
 * Returns 201 with the order and its address; 409 when stock is missing, a price is not the expected one, the discount
 * does not apply, or the account would exceed a limit; 422 for a product that cannot be ordered, or not be sent there.
 * When a process dies, a retry with the same idempotency key leads to exactly one order or to none.
 */
export const createOrder: Operation<'createOrder'> = async (request, context) => {
  const expected = readExpectedPrices(request, context);
  if (context.needsVerifiedEmail && !requireCaller(request).emailVerified) throw unverified();
  const wanted = toWantedLines(request.body);
  for (let attempt = 0; ; attempt += 1) {
    const stored = await storedResponse(request, context);
    if (stored !== undefined) return stored;
    const terms = await findTerms(request, context, request.body);
    if (terms.problem !== undefined) return refuse(request, context, terms.problem);
    const reservation = await reserveStock(request, context, reservationIdFor(request, wanted, attempt), wanted);
    if (reservation.state === 'gone') continue;
    if (reservation.state === 'refused') return refuse(request, context, reservation.problem);
    const lines = reservedLines(wanted, reservation.lines);
    const { order, problems } = calculateOrder(context, terms, lines, request.body);
    const problem = problems[0] ?? (order && checkPrices(order, expected, context.orders));
    if (order === undefined || problem !== undefined) {
      await releaseUnusedReservation(request, context, reservation.id);
      return refuse(request, context, problem ?? totalTooLarge());
    }
    const placed = { ...order, reservationId: reservation.id, shippingAddress: request.body.shipping_address };
    try {
      return await idempotent(request, context, (tx) => placeOrder(tx, request, context, placed));
    } catch (error) {
      // A concurrent request with the same key finished first. If it has the same lines, its order uses this
      // reservation. Or a discount was used up meanwhile, so the order is calculated again without it.
      const isUsedUp = error instanceof UsedUpError;
      if (isUsedUp || (error instanceof Problem && error.code === 'idempotency-key-reused'))
        await releaseUnusedReservation(request, context, reservation.id);
      // The reservation was resolved before this COMMIT and cannot be used, so a new one is needed.
      if (!isUsedUp && !reservationKey.test(violatedConstraint(error) ?? '')) throw error;
    }
  }
};

/** Stores the error response in the transaction of the idempotency key, so that a retry returns it again. */
function refuse(request: OperationRequest, context: OrdersContext, problem: Problem): Promise<Result> {
  countRefusal(problem.code);
  return idempotent(request, context, () => Promise.reject(problem));
}

/** Returns the lines with the names, prices and facts of the reservation. */
function reservedLines(wanted: readonly WantedLine[], reserved: readonly ReservedLine[]): CalculatedLine[] {
  return wanted.map((line) => {
    const found = reserved.find(({ productId }) => productId === line.productId);
    if (found === undefined) throw new Error(`the reservation lacks product ${line.productId}`);
    return { ...line, ...found };
  });
}
