// What came through this gateway in the last minute, by operation: how often, how it ended, how long it took.
import { boardStream, type Middleware, onResponseClose } from '../../entry/gateway-request.ts';

export interface OperationFigures {
  readonly operation: string;
  /** Within the last minute. */
  readonly requests: number;
  /** Of them, answers from 400 to 499, and from 500. */
  readonly refused: number;
  readonly failed: number;
  /** Milliseconds that half and 99 of 100 requests took at most, rounded up to the next of `bounds`. */
  readonly half: number;
  readonly most: number;
}

interface Slice {
  /** Which slice of time it holds. */
  readonly number: number;
  requests: number;
  refused: number;
  failed: number;
  readonly durations: number[];
}

const sliceLength = 5_000;
const slices = 12;
/** Milliseconds. What takes longer than the last is counted with it. */
const bounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

export class Traffic {
  readonly #operations = new Map<string, Slice[]>();

  /** Counts every request that belongs to an operation when its answer is over. */
  readonly middleware: Middleware = (_request, response, next) => {
    response.on('close', this.#listener);
    next();
  };

  readonly #listener = onResponseClose((request, response) => {
    const id = request.operation?.operationId;
    const now = performance.now();
    if (id !== undefined && id !== boardStream && response.headersSent)
      this.record(id, response.statusCode, now - request.began, now);
  });

  /** @param took milliseconds */
  record(operation: string, status: number, took: number, now: number): void {
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
    const at = bounds.findIndex((bound) => took <= bound);
    const place = at < 0 ? bounds.length - 1 : at;
    slice.durations[place] = (slice.durations[place] ?? 0) + 1;
  }

  /** The operations that were asked for in the last minute, the busiest first. */
  figures(now: number): OperationFigures[] {
    const oldest = Math.floor(now / sliceLength) - slices + 1;
    return [...this.#operations]
      .map(([operation, ring]) => {
        const recent = ring.filter((slice) => slice !== undefined && slice.number >= oldest);
        const sum = (of: (slice: Slice) => number): number => recent.reduce((total, slice) => total + of(slice), 0);
        const requests = sum((slice) => slice.requests);
        const within = (share: number): number => {
          let seen = 0;
          const reached = bounds.find((_, index) => {
            seen += sum(({ durations }) => durations[index] ?? 0);
            return seen >= requests * share;
          });
          return reached ?? 0;
        };
        const [half, most] = [within(0.5), within(0.99)];
        return {
          operation,
          requests,
          refused: sum((one) => one.refused),
          failed: sum((one) => one.failed),
          half,
          most,
        };
      })
      .filter(({ requests }) => requests > 0)
      .sort((a, b) => b.requests - a.requests);
  }
}
