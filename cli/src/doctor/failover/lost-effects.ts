// Finds events that were published and that a consumer has not handled: the failover lost the effect, and the broker
// delivers no event again that was acknowledged.
import { readReservations } from '@shop/catalogue/operator';
import { isNotified } from '@shop/notifications/operator';
import { changesOrder } from '@shop/orders/operator';
import {
  type ConsumerName,
  consumers,
  deliverAgain,
  findUnhandled,
  publishedEvents,
  type SentEvent,
} from '@shop/shared/events';
import { operatorCommand, type ServiceName, serviceNames } from '@shop/shared/runtime';
import { deadLettersPerRead } from '../../shop/dead-letters.ts';
import type { OpenShop } from '../../shop/open-shop.ts';
import { operatorEnvironment } from '../../shop/processes.ts';
import { type Finding, failed } from '../finding.ts';
import type { Loss } from './loss.ts';
import { type Servers, serviceOf } from './servers.ts';

export interface LostEffects {
  readonly losses: readonly Loss[];
  /** One for each consumer that cannot be judged, because its queue is not empty. */
  readonly undecided: readonly Finding[];
}

/**
 * The losses since a time. Delivering an event again has an effect only where it was lost: the inbox has the others.
 * @param repairedOrders the orders whose dead letters are delivered again, because their cause is repaired
 */
export async function findLostEffects(
  servers: Servers,
  since: string,
  repairedOrders: ReadonlySet<string>,
): Promise<LostEffects> {
  const letters = await servers.letters.list(undefined, deadLettersPerRead);
  const reasons = new Map(letters.map(({ consumer, id, reason }) => [`${consumer} ${id}`, reason]));
  const lost = new Map<ConsumerName, Loss[]>();
  for (const sender of serviceNames) {
    for await (const events of publishedEvents(servers.clients[sender], since)) {
      for (const consumer of Object.keys(consumers) as ConsumerName[]) {
        const unhandled = await unhandledOf(servers, consumer, events);
        const losses = unhandled.map((event) => {
          const reason = reasons.get(`${consumer} ${event.id}`);
          return reason === undefined || ('orderId' in event.data && repairedOrders.has(event.data.orderId))
            ? lostEffect(servers, sender, consumer, event)
            : deadLetter(consumer, event, reason);
        });
        if (losses.length > 0) lost.set(consumer, [...(lost.get(consumer) ?? []), ...losses]);
      }
    }
  }
  const undecided: Finding[] = [];
  for (const consumer of lost.keys()) {
    const { waiting, delayed } = await servers.transport.depth(consumer);
    if (waiting + delayed === 0) continue;
    lost.delete(consumer);
    const detail = `${waiting + delayed} events wait in the queue of ${consumer}, so that its effects cannot be compared`;
    undecided.push(failed('lost effect', detail, `run ${operatorCommand('shop', 'doctor --after-failover')} again`));
  }
  return { losses: [...lost.values()].flat(), undecided };
}

async function unhandledOf(
  { shop, clients }: Servers,
  consumer: ConsumerName,
  events: readonly SentEvent[],
): Promise<SentEvent[]> {
  const wanted = events.filter((event) => isFor(consumer, event));
  if (wanted.length === 0) return [];
  const ids = wanted.map(({ id }) => id);
  const missing = await findUnhandled(clients[serviceOf(consumer)], consumer, ids);
  const unhandled = wanted.filter(({ id }) => missing.has(id));
  return consumer === 'catalogue.inventory' ? withReservation(shop, unhandled) : unhandled;
}

/**
 * The events about orders whose reservations exist. The others have no effect, and the lost reservation is reported. A
 * cancellation has no effect on a reservation that has shipped; the lost shipment is reported.
 */
async function withReservation(shop: OpenShop, events: readonly SentEvent[]): Promise<SentEvent[]> {
  if (events.length === 0) return [];
  const reservationOf = ({ data }: SentEvent): string[] => ('reservationId' in data ? [data.reservationId] : []);
  const reservations = await readReservations(operatorEnvironment(shop, 'catalogue'), events.flatMap(reservationOf));
  const states = new Map(reservations.map(({ id, state }) => [id, state]));
  return events.filter((event) => {
    const [state] = reservationOf(event).flatMap((id) => states.get(id) ?? []);
    return state !== undefined && !(state === 'shipped' && event.type === 'order.cancelled.v1');
  });
}

/** Whether the consumer records the event in its inbox. */
function isFor(consumer: ConsumerName, event: SentEvent): boolean {
  if (!consumers[consumer].some((each) => each === event.type)) return false;
  if (event.type === 'notification.sent.v1') return changesOrder(event);
  return event.type === 'refund.due.v1' ? isNotified(event) : true;
}

/** The cause of a dead letter may be a fault that still exists, so only the operator delivers it again. */
function deadLetter(consumer: ConsumerName, { id, type, subject, data }: SentEvent, reason: string): Loss {
  const [replay, discard] = ['replay', 'discard'].map((verb) => operatorCommand('shop', `events dead ${verb} EVENT`));
  return {
    check: 'dead letter',
    detail: `${consumer} could not handle ${type} about ${subject} (event ${id}): ${reason}`,
    remedy: `correct the cause, then ${replay}; or ${discard}`,
    ...('orderId' in data ? { orderId: data.orderId } : {}),
  };
}

function lostEffect(
  { clients, letters, transport }: Servers,
  sender: ServiceName,
  consumer: ConsumerName,
  { id, type, subject, data }: SentEvent,
): Loss {
  return {
    check: 'lost effect',
    detail: `${consumer} has not handled ${type} about ${subject} (event ${id})`,
    remedy: '--repair delivers the event again',
    ...('orderId' in data ? { orderId: data.orderId } : {}),
    async repair() {
      if (await letters.replay(id, consumer)) return { done: 'it is in the queue again' };
      const isStored = await deliverAgain(clients[sender], sender, id, consumer, transport);
      return isStored ? { done: 'it is in the queue again' } : { refused: `${sender} no longer has the event` };
    },
  };
}
