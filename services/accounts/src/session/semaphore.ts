// A semaphore for work that uses a processor core fully. Some calls run, others wait for a bounded time, and further
// ones are rejected. Waiting calls are scheduled fairly, so that the calls of one client network do not delay those of
// another.
import { Problem } from '@shop/shared/problem';

export interface SemaphoreOptions {
  /** The maximum number of concurrent calls, at least 1. */
  readonly running: number;
  /** The maximum number of calls that wait. */
  readonly waiting: number;
}

/** Who waits for the result of a call. */
export interface Waiter {
  /** The client network. Networks are served in turn. */
  readonly network: string;
  /** Whether the client has proved that it belongs to the account. Such calls get half of the capacity. */
  readonly isKnown: boolean;
  /** The maximum time in milliseconds for which the call waits. */
  readonly maximumWait: number;
  /** Aborts when the client has left. Its call then does not run. */
  readonly signal: AbortSignal;
}

interface Call {
  readonly network: string;
  /** Starts the call, which has left its lane. */
  readonly start: () => void;
  /** Rejects the call, which was removed from its lane. */
  readonly refuse: (problem: Problem) => void;
}

export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #known = new Lane();
  readonly #others = new Lane();
  #running = 0;
  #servesKnown = true;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /**
   * Runs `work`. Waiting calls start in turn: known and other clients alternate, and so do the networks of each.
   * @throws Problem 503 when too many calls wait, after the maximum wait, and when the client leaves before the start
   */
  async run<T>(waiter: Waiter, work: () => Promise<T>): Promise<T> {
    if (waiter.signal.aborted) throw left();
    if (this.#running < this.#options.running) this.#running += 1;
    else await this.#wait(waiter);
    try {
      return await work();
    } finally {
      // The slot passes to the next call. The count stays, so that no other call can take the slot.
      const next = this.#next();
      if (next === undefined) this.#running -= 1;
      else next.start();
    }
  }

  #next(): Call | undefined {
    const [first, second] = this.#servesKnown ? [this.#known, this.#others] : [this.#others, this.#known];
    this.#servesKnown = !this.#servesKnown;
    return first.shift() ?? second.shift();
  }

  #wait({ network, isKnown, maximumWait, signal }: Waiter): Promise<void> {
    const [own, other] = isKnown ? [this.#known, this.#others] : [this.#others, this.#known];
    if (own.size + other.size >= this.#options.waiting) this.#makeRoom(own, other, network);
    return new Promise<void>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      const call: Call = {
        network,
        start() {
          end();
          resolve();
        },
        refuse(problem) {
          end();
          reject(problem);
        },
      };
      const drop = (problem: Problem): void => {
        own.remove(call);
        call.refuse(problem);
      };
      const leave = (): void => drop(left());
      const timer = setTimeout(() => drop(busy()), maximumWait);
      signal.addEventListener('abort', leave, { once: true });
      own.push(call);
    });
  }

  /**
   * Rejects the newest call of the network with the most calls. It is taken from the other lane when that is longer,
   * otherwise from the own lane.
   * @throws Problem 503 when the own network would have the most calls
   */
  #makeRoom(own: Lane, other: Lane, network: string): void {
    const isOtherLonger = other.size > own.size;
    const longest = isOtherLonger ? other.longest() : own.longest();
    if (longest === undefined || (!isOtherLonger && longest.length <= own.countOf(network) + 1)) throw busy();
    const newest = longest.at(-1);
    if (newest === undefined) throw busy();
    (isOtherLonger ? other : own).remove(newest);
    newest.refuse(busy());
  }
}

/** Waiting calls. Their networks take turns, and each network is a queue. */
class Lane {
  readonly #networks = new Map<string, Call[]>();
  size = 0;

  countOf(network: string): number {
    return this.#networks.get(network)?.length ?? 0;
  }

  /** Returns the calls of the network with the most calls. */
  longest(): readonly Call[] | undefined {
    let longest: readonly Call[] | undefined;
    for (const calls of this.#networks.values()) if (calls.length > (longest?.length ?? 0)) longest = calls;
    return longest;
  }

  push(call: Call): void {
    const calls = this.#networks.get(call.network);
    if (calls === undefined) this.#networks.set(call.network, [call]);
    else calls.push(call);
    this.size += 1;
  }

  shift(): Call | undefined {
    const [first] = this.#networks;
    if (first === undefined) return undefined;
    const [network, calls] = first;
    const call = calls.shift();
    this.size -= 1;
    // A network with further calls is the last in turn.
    this.#networks.delete(network);
    if (calls.length > 0) this.#networks.set(network, calls);
    return call;
  }

  remove(call: Call): void {
    const calls = this.#networks.get(call.network) ?? [];
    const index = calls.indexOf(call);
    if (index < 0) return;
    calls.splice(index, 1);
    this.size -= 1;
    if (calls.length === 0) this.#networks.delete(call.network);
  }
}

function busy(): Problem {
  return new Problem('service-unavailable', 'Too many passwords are being checked at the moment. Try again shortly.', {
    headers: { 'Retry-After': '2' },
  });
}

function left(): Problem {
  return new Problem('service-unavailable', 'The client closed the connection.', { headers: { 'Retry-After': '2' } });
}
