// A bounded queue for work that keeps a core busy: some runs, some waits its turn, the rest is refused.
import { Problem } from '@shop/shared/problem';

export interface Turns {
  /** Runs `work` in the order of the calls. @throws Problem 503 immediately when too many calls wait already */
  take<T>(work: () => Promise<T>): Promise<T>;
}

export interface TurnsOptions {
  /** The maximum number of concurrent calls, at least 1. */
  readonly running: number;
  /** How much may wait beyond that. */
  readonly waiting: number;
}

export function createTurns(options: TurnsOptions): Turns {
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    async take(work) {
      if (running < options.running) running += 1;
      else if (queue.length >= options.waiting) throw busy();
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        // The slot passes to the next call in the queue. The count stays, so that no other call can take the slot.
        const next = queue.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

function busy(): Problem {
  return new Problem('service-unavailable', 'Too many passwords are being checked at the moment. Try again shortly.', {
    headers: { 'Retry-After': '2' },
  });
}
