// The dead letters of the shop that a command is about.
import { type DeadLetterDesk, openDeadLetters } from '@shop/shared/events';
import { createLog } from '@shop/shared/runtime';
import type { AttachedShop } from './attach.ts';

/** As many of one consumer as are read at once. */
export const mostLetters = 10_000;

/** @throws BrokerAwayError when the broker does not answer within some seconds */
export async function atDesk<T>(shop: AttachedShop, use: (desk: DeadLetterDesk) => Promise<T>): Promise<T> {
  const { settings, running, databases } = shop;
  const url = settings.eventsUrl ?? running?.eventsUrl ?? databases.events;
  const desk = await openDeadLetters({ url, log: createLog('events', 'silent') });
  try {
    return await use(desk);
  } finally {
    await desk.close();
  }
}
