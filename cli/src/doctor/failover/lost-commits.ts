// Finds events that a consumer has handled, or could not handle, and that their service has not sent: the service has
// lost the commit. What the service knows today decides whether something is still lost.
import { type KnownVersion, overtakeVersion, readAccountVersions } from '@shop/accounts/operator';
import { readEmailedOrders, readRecipientVersions } from '@shop/notifications/operator';
import { type KnownOrder, readCustomerVersions, readKnownOrders } from '@shop/orders/operator';
import { findUnknown, type HandledEvent, handledEvents, type ReadableDeadLetter, senderOf } from '@shop/shared/events';
import { operatorCommand, serviceNames } from '@shop/shared/runtime';
import { deadLettersPerRead } from '../../shop/dead-letters.ts';
import type { OpenShop } from '../../shop/open-shop.ts';
import { operatorEnvironment } from '../../shop/processes.ts';
import type { Loss } from './loss.ts';
import { lostCancellation, lostOrder, lostShipment } from './lost-stock.ts';
import type { Servers } from './servers.ts';

/** Id of an order or account → the types of the events about it that were not sent. */
type Unsent = ReadonlyMap<string, ReadonlySet<string>>;

/** The losses since a time. */
export async function findLostCommits(servers: Servers, since: string): Promise<Loss[]> {
  const unsent = new Map<string, Set<string>>();
  for (const service of serviceNames) {
    for await (const events of handledEvents(servers.clients[service], since)) {
      for (const { subject, type } of await withoutSender(servers, events)) {
        unsent.set(subject, (unsent.get(subject) ?? new Set()).add(type));
      }
    }
  }
  return [
    ...(await lostInOrders(servers.shop, unsent)),
    ...(await lostInAccounts(servers.shop, unsent)),
    ...(await deadEvents(servers, since)),
  ];
}

async function withoutSender<E extends HandledEvent>({ clients }: Servers, events: readonly E[]): Promise<E[]> {
  const found: E[] = [];
  for (const service of serviceNames) {
    const sent = events.filter(({ type }) => senderOf(type) === service);
    if (sent.length === 0) continue;
    const unknown = await findUnknown(
      clients[service],
      sent.map(({ id }) => id),
    );
    found.push(...sent.filter(({ id }) => unknown.has(id)));
  }
  return found;
}

function idsAbout(unsent: Unsent, isAbout: (type: string) => boolean): string[] {
  return [...unsent].filter(([, types]) => [...types].some(isAbout)).map(([id]) => id);
}

async function lostInOrders(shop: OpenShop, unsent: Unsent): Promise<Loss[]> {
  const ids = idsAbout(unsent, (type) => senderOf(type) === 'orders');
  const orders = await readKnownOrders(operatorEnvironment(shop, 'orders'), ids);
  const changes = orders.flatMap((order) => lostChanges(shop, order, unsent.get(order.orderId) ?? new Set()));
  const known = new Set(orders.map(({ orderId }) => orderId));
  const unknown = ids.filter((id) => !known.has(id));
  return [...changes, ...(await lostOrders(shop, unknown)), ...lostMoney(unsent, unknown)];
}

const money = 'compare with the list of the payment provider, and report it again (docs/taking-payments.md)';

/** Money that was received for orders that do not exist. It cannot be reported again. */
function lostMoney(unsent: Unsent, orderIds: readonly string[]): Loss[] {
  const hasMoney = (types: ReadonlySet<string> | undefined) =>
    types?.has('order.paid.v1') || types?.has('refund.due.v1');
  return orderIds
    .filter((id) => hasMoney(unsent.get(id)))
    .map((orderId) => ({
      check: 'lost payment',
      detail: `order ${orderId} does not exist, but other services know its payment`,
      remedy: 'compare with the list of the payment provider, and pay it back there',
      orderId,
    }));
}

/** Orders without a reservation are known by their e-mails. */
async function lostOrders(shop: OpenShop, ids: readonly string[]): Promise<Loss[]> {
  const emailed = await readEmailedOrders(operatorEnvironment(shop, 'notifications'), ids);
  return emailed.flatMap(({ reservationId, ...order }) =>
    reservationId === null ? [] : [lostOrder(shop, { ...order, reservationId }, 'there are e-mails about it')],
  );
}

function lostChanges(shop: OpenShop, order: KnownOrder, types: ReadonlySet<string>): Loss[] {
  const { orderId, accountId, reservationId, status, statuses, isPaid, isOverpaid, isRefunded } = order;
  const isOpen = status === 'pending' || status === 'processing';
  const lost = (check: string, what: string, remedy: string): Loss => {
    const detail = `order ${orderId} is ${status}, but other services know ${what}`;
    return { check, detail, remedy, orderId, accountId, reservationId };
  };
  const process = `record it again: ${operatorCommand('shop', 'orders process ORDER')}`;
  return [
    ...(types.has('order.cancelled.v1') && isOpen ? [lostCancellation(shop, order)] : []),
    ...(types.has('order.shipped.v1') && isOpen ? [lostShipment(order)] : []),
    ...(types.has('order.processing.v1') && status === 'pending' && !statuses.includes('processing')
      ? [lost('lost step', 'that it was processed', process)]
      : []),
    ...(types.has('order.paid.v1') && !isPaid ? [lost('lost payment', 'its payment', money)] : []),
    ...(types.has('refund.due.v1') && !isOverpaid
      ? [lost('lost payment', 'a payment of it that is due as a refund', money)]
      : []),
    ...(types.has('refund.done.v1') && !isRefunded ? [lost('lost refund', 'its refund', money)] : []),
  ];
}

async function lostInAccounts(shop: OpenShop, unsent: Unsent): Promise<Loss[]> {
  // The token of an e-mail is not compared: its holder asks for another one.
  const ids = idsAbout(unsent, (type) => type.startsWith('account.'));
  const accounts = await readAccountVersions(operatorEnvironment(shop, 'accounts'), ids);
  const copies = [
    await readCustomerVersions(operatorEnvironment(shop, 'orders'), ids),
    await readRecipientVersions(operatorEnvironment(shop, 'notifications'), ids),
  ];
  return ids.flatMap((accountId) => {
    const known = Math.max(...copies.map((versions) => versions.get(accountId) ?? 0));
    const isErased = unsent.get(accountId)?.has('account.erased.v1') === true;
    return judgeAccount(shop, accountId, accounts.get(accountId), isErased ? 'erased' : known) ?? [];
  });
}

/** @param known the newest version that another service knows */
function judgeAccount(
  shop: OpenShop,
  accountId: string,
  version: KnownVersion | undefined,
  known: KnownVersion,
): Loss | undefined {
  if (version === 'erased') return undefined;
  if (version === undefined) {
    if (known === 'erased') return undefined;
    return {
      check: 'lost account',
      detail: `account ${accountId} does not exist, but other services know it`,
      remedy: `its holder has to register again; its orders: ${operatorCommand('shop', 'orders list --account ACCOUNT')}`,
      accountId,
    };
  }
  if (known === 'erased') {
    return {
      check: 'lost erasure',
      detail: `account ${accountId} exists, but other services have erased its data`,
      remedy: `erase it again: ${operatorCommand('shop', 'accounts erase ACCOUNT --days 0')}`,
      accountId,
    };
  }
  if (version >= known) return undefined;
  return {
    check: 'lost account change',
    detail: `account ${accountId} has version ${version}, but other services know version ${known}`,
    remedy:
      '--repair publishes the present state; a lost change may be a new password or address, or the end of sessions: ' +
      'tell the holder to repeat it',
    accountId,
    async repair() {
      await overtakeVersion(operatorEnvironment(shop, 'accounts'), accountId, known);
      return { done: 'its present state is published; tell the holder to repeat the change' };
    },
  };
}

/**
 * The dead letters of events that were sent since then. The service of an older event may have deleted it, and has not
 * lost it in this failover.
 */
async function deadEvents(servers: Servers, since: string): Promise<Loss[]> {
  const letters = await servers.letters.list(undefined, deadLettersPerRead);
  const recent = letters.flatMap((letter) => {
    const { type, subject, sentAt } = letter;
    if (type === undefined || subject === undefined || sentAt === undefined) return [];
    return Date.parse(sentAt) >= Date.parse(since) ? [{ ...letter, type, subject }] : [];
  });
  return (await withoutSender(servers, recent)).map((letter) => deadEvent(servers, letter));
}

function deadEvent({ letters }: Servers, { id, type, subject, consumer }: ReadableDeadLetter): Loss {
  return {
    check: 'lost event',
    detail: `${consumer} cannot handle ${type} about ${subject} (event ${id}), which its service has lost`,
    remedy: '--repair deletes the dead letter; the change that it reports does not exist',
    ...(type?.startsWith('order.') && subject !== undefined ? { orderId: subject } : {}),
    async repair() {
      await letters.discard(id, consumer);
      return { done: 'the dead letter is deleted' };
    },
  };
}
