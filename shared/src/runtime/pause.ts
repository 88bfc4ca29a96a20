// Pauses that can be ended early, for loops that are woken often.

export interface Pause {
  /** Resolves after the time, or when the pause is ended. */
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
