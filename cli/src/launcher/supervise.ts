// Restarts a part of the running shop when it stops, with growing delays, until it is stopped on purpose.
import { type Pause, startPause, toReason } from '@shop/shared/runtime';

/** One run of a part. */
export interface Run {
  /** Resolves when the part can be used. Rejects with a one-line explanation when it cannot be started. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the run ends, also after `ready` has rejected. */
  readonly ended: Promise<string>;
  /** Stops the run and waits until it has stopped. */
  stop(): Promise<void>;
}

export interface Supervised {
  readonly ready: Promise<void>;
  /** Stops the present run; the next one starts immediately. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface Delays {
  /** Milliseconds before the first restart. The delay doubles with each restart. */
  readonly first: number;
  readonly longest: number;
  /** Milliseconds after which a run counts as stable, so that the next delay is the first one again. */
  readonly steady: number;
}

const usualDelays: Delays = { first: 500, longest: 30_000, steady: 60_000 };

/**
 * Launches the part, and launches it again whenever a run stops. When the first run does not become ready, `ready`
 * rejects and the part is not launched again.
 */
export function supervise(launch: () => Run, say: (line: string) => void, delays: Delays = usualDelays): Supervised {
  let run = launch();
  let stopped = false;
  let restarting = false;
  let delaying: Pause | undefined;
  const { ready } = run;

  const watch = async (): Promise<void> => {
    await ready;
    let delay = delays.first;
    for (let started = Date.now(); ; started = Date.now()) {
      const reason = await run.ended;
      if (stopped) return;
      if (restarting || Date.now() - started >= delays.steady) delay = delays.first;
      if (!restarting) {
        say(`ended (${reason}); starting it again in ${delay / 1000} s`);
        delaying = startPause(delay);
        await delaying.over;
        if (stopped) return;
        delay = Math.min(delay * 2, delays.longest);
      }
      restarting = false;
      run = launch();
      run.ready.then(
        () => say('is ready again'),
        (error: unknown) => say(`cannot be used: ${toReason(error)}`),
      );
    }
  };
  watch().catch(() => {}); // a failed first start

  return {
    ready,
    async restart() {
      restarting = true;
      delaying?.end();
      await run.stop();
    },
    async stop() {
      stopped = true;
      delaying?.end();
      await run.stop();
    },
  };
}
