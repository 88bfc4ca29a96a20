// So many requests a second, whatever becomes of them; fewer only where the machine does not keep up.

export interface LoadReport {
  readonly requests: number;
  /** Requests a second that were sent. */
  readonly rate: number;
  /** Milliseconds. */
  readonly slowest: number;
  /** What the requests that went wrong say. */
  readonly failures: readonly string[];
}

export interface SteadyLoad {
  /** Sends no more and waits for the answers. */
  stop(): Promise<LoadReport>;
}

// More at once would be a queue and no load; who is behind by so many skips what is due.
const inFlightAtMost = 40;

/** @param ask sends one request; it throws, saying what, when the answer is not the one to expect */
export function startLoad(perSecond: number, ask: (turn: number) => Promise<void>): SteadyLoad {
  const began = performance.now();
  const failures: string[] = [];
  const inFlight = new Set<Promise<void>>();
  let [due, requests, slowest] = [0, 0, 0];

  const send = async (turn: number): Promise<void> => {
    const sent = performance.now();
    await ask(turn).catch((error: unknown) => {
      failures.push(error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error));
    });
    slowest = Math.max(slowest, performance.now() - sent);
  };
  const timer = setInterval(() => {
    const now = Math.floor(((performance.now() - began) * perSecond) / 1_000);
    for (; due < now; due += 1) {
      if (inFlight.size >= inFlightAtMost) continue;
      const answer: Promise<void> = send(requests).finally(() => inFlight.delete(answer));
      inFlight.add(answer);
      requests += 1;
    }
  }, 4);
  return {
    async stop() {
      clearInterval(timer);
      const rate = requests / ((performance.now() - began) / 1_000);
      await Promise.all(inFlight);
      return { requests, rate, slowest, failures };
    },
  };
}
