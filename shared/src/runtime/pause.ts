// Pauses that can be cut short, for loops that are woken often: an AbortController for each of them costs more than the pause is for.

export interface Pause {
  /** Resolves when the time is over, or when it was ended. */
  readonly over: Promise<void>;
  /** Ends the pause immediately. Further calls have no effect. */
  end(): void;
}

export function startPause(milliseconds: number): Pause {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  return {
    over: promise,
    end() {
      clearTimeout(timer);
      resolve();
    },
  };
}
