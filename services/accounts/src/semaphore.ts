// A semaphore with a bounded queue, for work that uses a processor core fully. Some calls run, some wait, and further
// ones are refused.
import { Problem } from '@shop/shared/problem';

export interface SemaphoreOptions {
  /** The maximum number of concurrent calls, at least 1. */
  readonly running: number;
  /** The maximum number of calls that wait. */
  readonly waiting: number;
}

export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** Runs `work`, in the order of the calls. @throws Problem 503 immediately when too many calls wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#options.running) this.#running += 1;
    else if (this.#queue.length >= this.#options.waiting) throw busy();
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await work();
    } finally {
      // The slot passes to the next call in the queue. The count stays, so that no other call can take the slot.
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function busy(): Problem {
  return new Problem('service-unavailable', 'Too many passwords are being checked at the moment. Try again shortly.', {
    headers: { 'Retry-After': '2' },
  });
}
