// One part of the running shop: kept running, with growing delays between attempts, until it is stopped.
import { setTimeout as sleep } from 'node:timers/promises';

/** One run of a part. */
export interface Run {
  /** Settles when the part can be used; rejects with one line for people when it cannot be started. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the run is over; also after `ready` has rejected. */
  readonly ended: Promise<string>;
  /** Ends the run and waits for it. */
  stop(): Promise<void>;
}

export interface Part {
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export interface Delays {
  /** Before the first new start, in milliseconds; doubles with each. */
  readonly first: number;
  readonly longest: number;
  /** A run as long as this makes the next delay the first one again. */
  readonly steady: number;
}

const usualDelays: Delays = { first: 500, longest: 30_000, steady: 60_000 };

/**
 * Launches the part and launches it again whenever a run ends. A first run that never gets ready is the caller's to
 * answer: `ready` rejects and nothing is launched again.
 */
export function keepRunning(launch: () => Run, say: (line: string) => void, delays: Delays = usualDelays): Part {
  const stopped = new AbortController();
  let run = launch();
  const { ready } = run;

  const watch = async (): Promise<void> => {
    await ready;
    let delay = delays.first;
    for (let started = Date.now(); ; started = Date.now()) {
      const reason = await run.ended;
      if (stopped.signal.aborted) return;
      if (Date.now() - started >= delays.steady) delay = delays.first;
      say(`ended (${reason}); starting it again in ${delay / 1000} s`);
      await sleep(delay, undefined, { signal: stopped.signal });
      delay = Math.min(delay * 2, delays.longest);
      run = launch();
      run.ready.then(
        () => say('is ready again'),
        () => {}, // `ended` says why
      );
    }
  };
  watch().catch(() => {}); // a failed first start, or stopped while waiting

  return {
    ready,
    async stop() {
      stopped.abort();
      await run.stop();
    },
  };
}
