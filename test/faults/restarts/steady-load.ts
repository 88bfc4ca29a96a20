// Sends a fixed number of requests a second on average, whatever their outcome. It sends fewer only when the machine is too
// slow.
import { slowness } from '@shop/shared/testing';

export interface LoadReport {
  readonly requests: number;
  /** Requests a second that were sent. */
  readonly rate: number;
  /** The time of the slowest request in milliseconds. */
  readonly slowest: number;
  /** How much slower than the machine of pace.ts this one was, before or after the load. */
  readonly pace: number;
  /** The errors of the failed requests. */
  readonly failures: readonly string[];
}

export interface SteadyLoad {
  /** Stops sending and waits for the replies. */
  stop(): Promise<LoadReport>;
}

// The maximum number of requests in flight. Beyond it, due requests are sent later, because they would only wait in a
// queue.
const inFlightAtMost = 40;

/** @param ask sends one request; throws an error when the reply is not the expected one */
export function startLoad(perSecond: number, ask: (turn: number) => Promise<void>): SteadyLoad {
  const paceBefore = slowness();
  const began = performance.now();
  const failures: string[] = [];
  const inFlight = new Set<Promise<void>>();
  let [requests, slowest] = [0, 0];

  const send = async (turn: number): Promise<void> => {
    const sent = performance.now();
    await ask(turn).catch((error: unknown) => {
      failures.push(error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error));
    });
    slowest = Math.max(slowest, performance.now() - sent);
  };
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1_000);
    for (; requests < due && inFlight.size < inFlightAtMost; requests += 1) {
      const answer: Promise<void> = send(requests).finally(() => inFlight.delete(answer));
      inFlight.add(answer);
    }
  }, 4);
  return {
    async stop() {
      clearInterval(timer);
      const rate = requests / ((performance.now() - began) / 1_000);
      await Promise.all(inFlight);
      return { requests, rate, slowest, pace: Math.max(paceBefore, slowness()), failures };
    },
  };
}
