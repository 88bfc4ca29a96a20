// POST /v1/orders: reserves the stock in the catalogue, then places the order in one transaction of its own.
import { violatedConstraint } from '@shop/shared/database';
import { idempotent, type OperationRequest, type Result, requireCaller, storedResponse } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Operation, OrdersContext } from '../context.ts';
import type { components } from '../generated.ts';
import { checkPrices, readExpectedPrices } from '../order/check-prices.ts';
import { countRefusal } from '../order/measure-orders.ts';
import { type NewOrder, placeOrder } from '../order/place-order.ts';
import {
  type ReservedLine,
  releaseUnusedReservation,
  reservationIdFor,
  reserveStock,
  type WantedLine,
} from '../order/stock-reservation.ts';
import { checkLimits } from '../order/total-limit.ts';

type OrderInput = components['schemas']['NewOrder'];

/** The pattern also matches the keys of hash partitions, such as `reservations_7_pkey`. */
const reservationKey = /^reservations(_\d+)?_pkey$/;

/**
 * Returns 201 with the order and its address; 409 when stock is missing, a price is not the expected one, or the
 * account would exceed a limit; 422 for a product that cannot be ordered. When a process dies, a retry with the same
 * idempotency key leads to exactly one order or to none.
 */
export const createOrder: Operation<'createOrder'> = async (request, context) => {
  const expected = readExpectedPrices(request, context.orders);
  if (context.needsVerifiedEmail && !requireCaller(request).emailVerified) throw unverified();
  const wanted = wantedLines(request.body);
  for (let attempt = 0; ; attempt += 1) {
    const stored = await storedResponse(request, context);
    if (stored !== undefined) return stored;
    const reservation = await reserveStock(request, context, reservationIdFor(request, wanted, attempt), wanted);
    if (reservation.state === 'gone') continue;
    if (reservation.state === 'refused') return refuse(request, context, reservation.problem);

    const order = priced(reservation.id, wanted, reservation.lines, request.body);
    const problem = checkLimits(order) ?? checkPrices(order, expected, context.orders);
    if (problem !== undefined) {
      await releaseUnusedReservation(request, context, reservation.id);
      return refuse(request, context, problem);
    }
    try {
      return await idempotent(request, context, (tx) => placeOrder(tx, request, context, order));
    } catch (error) {
      // A concurrent request with the same key finished first. If it has the same lines, its order uses this
      // reservation.
      if (error instanceof Problem && error.code === 'idempotency-key-reused')
        await releaseUnusedReservation(request, context, reservation.id);
      // The reservation was resolved before this COMMIT and cannot be used, so a new one is needed.
      if (!reservationKey.test(violatedConstraint(error) ?? '')) throw error;
    }
  }
};

function unverified(): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="shop"' };
  return new Problem('email-not-verified', 'The e-mail address must be verified first. Nothing was ordered.', {
    headers,
  });
}

/** Stores the error response in the transaction of the idempotency key, so that a retry returns it again. */
function refuse(request: OperationRequest, context: OrdersContext, problem: Problem): Promise<Result> {
  countRefusal(problem.code);
  return idempotent(request, context, () => Promise.reject(problem));
}

/** Returns one line for each product, in the order of first appearance, with the sum of the quantities. */
function wantedLines({ items }: OrderInput): WantedLine[] {
  const lines = new Map<string, { productId: string; quantity: number; positions: number[] }>();
  for (const [position, { productId, quantity }] of items.entries()) {
    const line = lines.get(productId) ?? { productId, quantity: 0, positions: [] };
    line.quantity += quantity;
    line.positions.push(position);
    lines.set(productId, line);
  }
  return [...lines.values()];
}

/** Returns the order with the names and prices of the reservation. */
function priced(
  reservationId: string,
  wanted: readonly WantedLine[],
  reserved: readonly ReservedLine[],
  input: OrderInput,
): NewOrder {
  const lines = wanted.map((line) => {
    const found = reserved.find(({ productId }) => productId === line.productId);
    if (found === undefined) throw new Error(`the reservation lacks product ${line.productId}`);
    // The amounts are BigInt, because a line (at most 1e11 × 99,900) and the sum may exceed the safe integers.
    return { ...line, ...found, lineTotalMinor: BigInt(found.unitPriceMinor) * BigInt(line.quantity) };
  });
  const totalMinor = lines.reduce((sum, { lineTotalMinor }) => sum + lineTotalMinor, 0n);
  return { reservationId, lines, totalMinor, shippingAddress: input.shipping_address };
}
