// Compares the reservations of the catalogue with the orders. The catalogue is read before the orders: a reservation
// is confirmed, released and shipped only after the order was, so each difference is a loss and not a change in
// progress.
import {
  eachMovedReservation,
  handOverReservation,
  type KnownReservation,
  readReservations,
  releaseUnits,
  restoreReservation,
} from '@shop/catalogue/operator';
import { endEmails } from '@shop/notifications/operator';
import {
  cancelOrders,
  eachChangedOrder,
  type KnownOrder,
  type OrderReference,
  readFences,
  readKnownOrders,
  resolveLostOrder,
} from '@shop/orders/operator';
import { operatorCommand } from '@shop/shared/runtime';
import type { OpenShop } from '../../shop/open-shop.ts';
import { operatorEnvironment } from '../../shop/processes.ts';
import { type Loss, repairReason } from './loss.ts';

/** The losses since a time. It should be some minutes before the failover, because stock is reserved before an order. */
export async function findLostStock(shop: OpenShop, since: string): Promise<Loss[]> {
  const [catalogue, orders] = [operatorEnvironment(shop, 'catalogue'), operatorEnvironment(shop, 'orders')];
  const losses = new Map<string, Loss>();
  const compare = async (ids: readonly string[]): Promise<void> => {
    const reservations = new Map((await readReservations(catalogue, ids)).map((each) => [each.id, each]));
    const fences = await readFences(orders, ids);
    const orderIds = [...fences.values()].filter((id) => id !== null);
    const known = new Map((await readKnownOrders(orders, orderIds)).map((each) => [each.orderId, each]));
    for (const id of ids) {
      const orderId = fences.get(id);
      const order = orderId == null ? undefined : known.get(orderId);
      const loss = judge(shop, reservations.get(id), order, orderId === null);
      if (loss !== undefined) losses.set(id, loss);
    }
  };
  await eachMovedReservation(catalogue, since, compare);
  await eachChangedOrder(orders, since, (changed) => compare(changed.map(({ reservationId }) => reservationId)));
  return [...losses.values()];
}

/** @param isResolved whether orders has decided that no order has the reservation */
function judge(
  shop: OpenShop,
  reservation: KnownReservation | undefined,
  order: KnownOrder | undefined,
  isResolved: boolean,
): Loss | undefined {
  if (order === undefined) return reservation && judgeWithoutOrder(shop, reservation, isResolved);
  if (reservation === undefined) return order.status === 'cancelled' ? undefined : lostReservation(shop, order);
  const { state, accountId } = reservation;
  if (state === 'confirmed' && reservation.orderId !== null && reservation.orderId !== order.orderId) {
    const lost = { orderId: reservation.orderId, accountId, reservationId: reservation.id };
    return lostOrder(shop, lost, `its reservation belongs to order ${order.orderId}`);
  }
  if (order.status === 'pending' || order.status === 'processing') {
    if (state === 'released' && reservation.orderId === order.orderId) return lostCancellation(shop, order);
    if (state === 'released') return lostStock(order);
    if (state === 'shipped') return lostShipment(order);
    return lacksUnits(reservation, order) ? lostUnits(order) : undefined;
  }
  if (order.status === 'cancelled') {
    if (state === 'shipped') return lostShipment(order);
    return state === 'confirmed' && order.hasFailedRelease ? keptStock(shop, order) : undefined;
  }
  return state === 'released' ? lostStock(order) : undefined;
}

function judgeWithoutOrder(shop: OpenShop, reservation: KnownReservation, isResolved: boolean): Loss | undefined {
  const { id: reservationId, orderId, accountId, state } = reservation;
  // The catalogue itself asks for the order of a reservation that is only held. One without an order needs none.
  if (orderId === null || state === 'held') return undefined;
  if (isResolved && state !== 'confirmed') return undefined;
  return lostOrder(shop, { reservationId, orderId, accountId }, `its stock is ${state}`);
}

/**
 * An order that other services know and orders does not. The repair makes the loss final, so that no request can use the
 * reservation, releases the stock, and ends the e-mails. If the customer has repeated the lost request, the reservation
 * belongs to the new order.
 * @param evidence how the order is known
 */
export function lostOrder(shop: OpenShop, order: OrderReference, evidence: string): Loss {
  const { orderId, accountId, reservationId } = order;
  const tell = 'tell the customer that the order does not exist';
  return {
    check: 'lost order',
    detail: `order ${orderId} of account ${accountId} does not exist, and ${evidence}`,
    remedy: `--repair releases its stock unless that has shipped; ${tell} (${operatorCommand('shop', 'emails list ORDER')})`,
    orderId,
    accountId,
    reservationId,
    async repair() {
      const found = await resolveLostOrder(operatorEnvironment(shop, 'orders'), order);
      await endEmails(operatorEnvironment(shop, 'notifications'), orderId);
      const catalogue = operatorEnvironment(shop, 'catalogue');
      if (found !== null) {
        await handOverReservation(catalogue, order, found);
        return { done: `its stock belongs to order ${found}, which repeats it; ${tell}`, orderId: found };
      }
      const isReleased = await releaseUnits(catalogue, order, [], repairReason);
      return { done: `${isReleased ? 'its stock is released' : 'it has no reserved stock'}; ${tell}` };
    },
  };
}

function lostReservation(shop: OpenShop, order: KnownOrder): Loss {
  const cancel = operatorCommand('shop', 'orders cancel ORDER --reason TEXT');
  return {
    ...aboutOrder(order),
    check: 'lost reservation',
    detail: `order ${order.orderId} is ${order.status}, and the catalogue has no reservation ${order.reservationId}`,
    remedy: `--repair reserves its stock again; when units are missing, receive them or run ${cancel}`,
    async repair() {
      const catalogue = operatorEnvironment(shop, 'catalogue');
      const problem = await restoreReservation(catalogue, order, order.lines, repairReason);
      if (problem !== undefined) {
        return { refused: problem.errors.map(({ productId, detail }) => `product ${productId}: ${detail}`).join(', ') };
      }
      // A cancellation that was handled before this had no stock to release. A later one finds the reservation.
      const [now = order] = await readKnownOrders(operatorEnvironment(shop, 'orders'), [order.orderId]);
      const isCancelled = now.status === 'cancelled';
      await releaseUnits(catalogue, order, isCancelled ? [] : now.lines, repairReason);
      return { done: isCancelled ? 'it was cancelled meanwhile, and needs none' : 'its stock is reserved again' };
    },
  };
}

/** An order that was cancelled while it had no reservation, which was reserved again at the same time. */
function keptStock(shop: OpenShop, order: KnownOrder): Loss {
  return {
    ...aboutOrder(order),
    check: 'kept stock',
    detail: `order ${order.orderId} is cancelled, and its stock is still reserved`,
    remedy: '--repair releases it',
    async repair() {
      await releaseUnits(operatorEnvironment(shop, 'catalogue'), order, [], repairReason);
      return { done: 'it is released' };
    },
  };
}

/** The catalogue releases the stock of an order only when it was cancelled. */
export function lostCancellation(shop: OpenShop, order: KnownOrder): Loss {
  const { orderId, status } = order;
  return {
    ...aboutOrder(order),
    check: 'lost cancellation',
    detail: `order ${orderId} is ${status}, but other services know its cancellation, and its stock is released`,
    remedy: '--repair cancels it again',
    async repair() {
      const [outcome] = await cancelOrders(operatorEnvironment(shop, 'orders'), [orderId], { reason: repairReason });
      return outcome !== undefined && 'refused' in outcome ? outcome : { done: 'it is cancelled again' };
    },
  };
}

export function lostShipment(order: KnownOrder): Loss {
  const discard = operatorCommand('shop', 'events dead discard EVENT');
  return {
    ...aboutOrder(order),
    check: 'lost shipment',
    detail: `order ${order.orderId} is ${order.status}, but other services know that it was shipped`,
    remedy:
      order.status === 'cancelled'
        ? `its goods have left: ask the customer to return them, count them (PATCH /v1/products/PRODUCT), and run ${discard}`
        : `record it again: ${operatorCommand('shop', 'orders process ORDER')}, then orders ship ORDER with its tracking`,
  };
}

function lostUnits(order: KnownOrder): Loss {
  return {
    ...aboutOrder(order),
    check: 'lost cancellation',
    detail: `order ${order.orderId} has more units than its reservation, which were cancelled`,
    remedy: 'cancel these units again (POST /v1/orders/ORDER/cancel with lines), as the e-mail to the customer states',
  };
}

function lostStock(order: KnownOrder): Loss {
  const cancel = operatorCommand('shop', 'orders cancel ORDER --reason TEXT');
  return {
    ...aboutOrder(order),
    check: 'lost stock',
    detail: `order ${order.orderId} is ${order.status}, but its stock was released`,
    remedy: `run ${cancel}; when its goods have left, count the stock of its products instead (PATCH /v1/products/PRODUCT)`,
  };
}

function lacksUnits({ lines }: KnownReservation, order: KnownOrder): boolean {
  return order.lines.some(
    ({ productId, quantity }) => (lines.find((line) => line.productId === productId)?.quantity ?? 0) < quantity,
  );
}

function aboutOrder({ orderId, accountId, reservationId }: KnownOrder): OrderReference {
  return { orderId, accountId, reservationId };
}
