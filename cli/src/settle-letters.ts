// Puts dead letters back into their queues, or away for good: those that are named, or all.
import type { DeadLetterDesk } from '@shop/shared/events';

export interface Settling {
  readonly verb: 'replay' | 'discard';
  /** Undefined for all that are there. */
  readonly ids: readonly string[] | undefined;
  /** Only those of this consumer. */
  readonly consumer?: string | undefined;
  /** As many of one consumer are read at once. */
  readonly most: number;
}

export interface Settled {
  readonly consumer: string;
  readonly id: string;
}

/**
 * Settles each letter once: one that comes back meanwhile waits for the next command.
 * @returns what was settled, and the ids that no letter has
 */
export async function settleLetters(
  desk: DeadLetterDesk,
  { verb, ids, consumer, most }: Settling,
): Promise<{ settled: Settled[]; unknown: string[] }> {
  const settled: Settled[] = [];
  const seen = new Set<string>();
  const keyOf = (letter: Settled): string => `${letter.consumer} ${letter.id}`;
  for (;;) {
    const letters = await desk.list(consumer, most);
    const fresh = letters.filter((letter) => !seen.has(keyOf(letter)));
    for (const letter of fresh) {
      seen.add(keyOf(letter));
      if (ids?.includes(letter.id) === false) continue;
      if (await desk[verb](letter.id, letter.consumer)) settled.push({ consumer: letter.consumer, id: letter.id });
    }
    // A shorter list held all that there was. The oldest come first, so a list of known ones has nothing new behind them.
    if (letters.length < most || fresh.length === 0) break;
  }
  return { settled, unknown: (ids ?? []).filter((id) => !settled.some((letter) => letter.id === id)) };
}
