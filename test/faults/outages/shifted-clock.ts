// Loaded into a service process before its own code (node --import). It gives the process a clock that can be set,
// because the clock of a machine can be wrong or jump. PostgreSQL, the broker and the test itself keep the right time.

/** The message that sets the clock of the process ahead, in milliseconds. The process replies with a ClockReport. */
export interface ClockOrder {
  readonly clockAhead: number;
}

/** The time as the process sees it, in milliseconds since 1970. */
export interface ClockReport {
  readonly clock: number;
}

const RealDate = Date;
const realOrigin = performance.timeOrigin;
let ahead = Number(process.env.CLOCK_AHEAD ?? 0);
const now = (): number => RealDate.now() + ahead;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters, newTarget): object =>
    Reflect.construct(target, parameters.length === 0 ? [now()] : parameters, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name): unknown => (name === 'now' ? now : Reflect.get(target, name)),
});
Object.defineProperty(performance, 'timeOrigin', { get: () => realOrigin + ahead });

process.on('message', (message: unknown) => {
  if (typeof message !== 'object' || message === null || !('clockAhead' in message)) return;
  ahead = (message as ClockOrder).clockAhead;
  const report: ClockReport = { clock: Date.now() };
  process.send?.(report);
});
