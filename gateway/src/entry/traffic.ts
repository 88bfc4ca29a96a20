// The requests through this gateway in the last minute, by operation: count, outcome and duration.
import type { OperationFigures } from '@shop/web';
import type { Middleware } from './policy.ts';

interface Slice {
  /** The number of the time slice that these counts belong to. */
  readonly number: number;
  requests: number;
  refused: number;
  failed: number;
  readonly durations: number[];
}

const sliceLength = 5_000;
const slices = 12;
/** Milliseconds. A longer request is counted with the last bound. */
const bounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

export class Traffic {
  readonly #operations = new Map<string, Slice[]>();

  /** Counts every request of an operation when its response closes. The duration of a stream says nothing. */
  readonly middleware: Middleware = (request, response, next) => {
    response.on('close', () => {
      const { operation } = request;
      const now = performance.now();
      if (operation?.streams === false && response.headersSent)
        this.record(operation.operationId, response.statusCode, now - request.began, now);
    });
    next();
  };

  /** @param duration in milliseconds */
  record(operation: string, status: number, duration: number, now: number): void {
    const ring = this.#operations.get(operation) ?? [];
    this.#operations.set(operation, ring);
    const number = Math.floor(now / sliceLength);
    let slice = ring[number % slices];
    if (slice?.number !== number) {
      slice = { number, requests: 0, refused: 0, failed: 0, durations: bounds.map(() => 0) };
      ring[number % slices] = slice;
    }
    slice.requests += 1;
    if (status >= 500) slice.failed += 1;
    else if (status >= 400) slice.refused += 1;
    const found = bounds.findIndex((bound) => duration <= bound);
    const index = found < 0 ? bounds.length - 1 : found;
    slice.durations[index] = (slice.durations[index] ?? 0) + 1;
  }

  /** Returns the operations that were called in the last minute, the busiest first. */
  figures(now: number): OperationFigures[] {
    const oldest = Math.floor(now / sliceLength) - slices + 1;
    return [...this.#operations]
      .map(([operation, ring]) => {
        const recent = ring.filter((slice) => slice !== undefined && slice.number >= oldest);
        return summarize(operation, recent);
      })
      .filter(({ requests }) => requests > 0)
      .sort((a, b) => b.requests - a.requests);
  }
}

function summarize(operation: string, recent: readonly Slice[]): OperationFigures {
  const sum = (of: (slice: Slice) => number): number => recent.reduce((total, slice) => total + of(slice), 0);
  const requests = sum((slice) => slice.requests);
  const within = (share: number): number => {
    let counted = 0;
    const reached = bounds.find((_, index) => {
      counted += sum(({ durations }) => durations[index] ?? 0);
      return counted >= requests * share;
    });
    return reached ?? 0;
  };
  const [half, most] = [within(0.5), within(0.99)];
  return { operation, requests, refused: sum((one) => one.refused), failed: sum((one) => one.failed), half, most };
}
