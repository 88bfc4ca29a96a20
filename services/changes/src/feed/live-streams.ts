// The open streams of live updates.
import { observe } from '@shop/shared/telemetry';

export class LiveStreams {
  #open = 0;

  constructor() {
    const listeners = { unit: '{listener}', description: 'Open streams of live updates.' };
    observe('shop.changes.listeners', listeners, (tell) => tell(this.#open));
  }

  /** Counts a stream until its end. */
  async *count(stream: AsyncGenerator<string>): AsyncGenerator<string> {
    this.#open += 1;
    try {
      yield* stream;
    } finally {
      this.#open -= 1;
    }
  }
}
