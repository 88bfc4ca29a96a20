// Does together what arrives one by one: what comes while one round is at work makes the next round.

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hands items on in rounds, one round at a time; nothing waits longer than for the round before it. When a round of several fails,
 * each of its items is tried in a round of its own, so that only the one at fault fails.
 * @param doAll all or nothing; returns the results in the order of the items
 */
export function batch<Item, Result>(
  doAll: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let busy = false;

  const settle = async (round: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await doAll(round.map(({ item }) => item));
      for (const [index, { resolve }] of round.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (round.length > 1) await Promise.all(round.map((each) => settle([each])));
      else for (const { reject } of round) reject(error);
    }
  };

  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const round = waiting;
      waiting = [];
      await settle(round);
    }
    busy = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (busy) return;
      busy = true;
      // What came in the same moment goes along. Neither of them is what the other's request waits for.
      setImmediate(() => void work());
    });
}
