// Combines items that arrive one by one: items that arrive while a batch is in progress form the next batch.

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Processes items in batches, one batch at a time. No item waits longer than for the batch before it. When a batch of
 * several items fails, each item is tried in a separate batch, so that only the faulty one fails.
 * @param doAll processes all items or none, and returns the results in the order of the items
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
      // Items that arrive in the same tick join this batch. Their requests do not wait for each other.
      setImmediate(() => void work());
    });
}
