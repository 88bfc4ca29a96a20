// The dead letters of the shop that a command works on: opens them, and replays or discards them.
import { type DeadLetterStore, openDeadLetters } from '@shop/shared/events';
import { createLog } from '@shop/shared/runtime';
import type { OpenShop } from './open-shop.ts';

/** The largest number of one consumer's dead letters that one request reads. */
export const deadLettersPerRead = 10_000;

/** @throws BrokerUnavailableError when the broker does not respond within some seconds */
export async function withDeadLetters<T>(shop: OpenShop, use: (letters: DeadLetterStore) => Promise<T>): Promise<T> {
  const letters = await openDeadLetters({ url: eventsUrlOf(shop), log: createLog('events', 'silent') });
  try {
    return await use(letters);
  } finally {
    await letters.close();
  }
}

/** Returns the address of the broker. */
export function eventsUrlOf({ settings, running, databases }: OpenShop): string {
  return settings.eventsUrl ?? running?.eventsUrl ?? databases.events;
}

export interface Resolution {
  readonly verb: 'replay' | 'discard';
  /** The ids of the dead letters; undefined for all of them. */
  readonly ids: readonly string[] | undefined;
  /** The consumer of the dead letters; undefined for every consumer. */
  readonly consumer?: string | undefined;
  /** The largest number of one consumer's dead letters that one request reads. */
  readonly perRead: number;
}

export interface ResolvedDeadLetter {
  readonly consumer: string;
  readonly id: string;
}

/**
 * Replays or discards each dead letter once. A message that fails again meanwhile stays for the next command.
 * @returns the resolved dead letters, and the given ids that no dead letter has
 */
export async function resolveDeadLetters(
  deadLetters: DeadLetterStore,
  { verb, ids, consumer, perRead }: Resolution,
): Promise<{ resolved: ResolvedDeadLetter[]; unknown: string[] }> {
  const resolved: ResolvedDeadLetter[] = [];
  const seen = new Set<string>();
  const keyOf = (letter: ResolvedDeadLetter): string => `${letter.consumer} ${letter.id}`;
  for (;;) {
    const letters = await deadLetters.list(consumer, perRead);
    const fresh = letters.filter((letter) => !seen.has(keyOf(letter)));
    for (const letter of fresh) {
      seen.add(keyOf(letter));
      if (ids?.includes(letter.id) === false) continue;
      if (await deadLetters[verb](letter.id, letter.consumer)) {
        resolved.push({ consumer: letter.consumer, id: letter.id });
      }
    }
    // A page that is not full is the last one. The oldest dead letters are first, so no unknown one follows a page of
    // known ones.
    if (letters.length < perRead || fresh.length === 0) break;
  }
  return { resolved, unknown: (ids ?? []).filter((id) => !resolved.some((letter) => letter.id === id)) };
}
