// Waits until an order has reached a status, or until an effect of its cancellation is done.
import type { components } from './contract.ts';
import { longestTimer, pause } from './pause.ts';

type Schemas = components['schemas'];
export type HistoryEntry = Schemas['OrderHistory']['items'][number];

export type OrderStatus = Schemas['Order']['status'];

/** The effects of a cancellation in other services: units return to stock, and the customer gets an e-mail. */
export type OrderEffect = 'stockReleased' | 'customerNotified';

export interface WaitOptions {
  /** Milliseconds; default 60,000. `Infinity` sets no limit. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/**
 * Thrown when the order can no longer reach the goals, or has not reached one in time. `cause` is the last failure of a
 * request, if the last request failed.
 */
export class WaitError extends Error {
  readonly reason: 'unreachable' | 'timeout';
  /** The history of the order when the wait ended. */
  readonly history: readonly HistoryEntry[];

  constructor(reason: WaitError['reason'], message: string, history: readonly HistoryEntry[], cause?: unknown) {
    super(message, { cause });
    this.name = 'WaitError';
    this.reason = reason;
    this.history = history;
  }
}

const firstPause = 250;
const longestPause = 2_000;
/** A status from which an order can no longer be cancelled → the statuses that may follow it. */
const nextStatuses: Readonly<Partial<Record<OrderStatus, readonly OrderStatus[]>>> = {
  shipped: ['delivered'],
  delivered: [],
  cancelled: [],
};

/** The requests of a wait. */
export interface Reads<Result> {
  history(signal: AbortSignal): Promise<readonly HistoryEntry[]>;
  result(signal: AbortSignal): Promise<Result>;
  /** Returns whether a failed read may succeed later. */
  isTemporary(error: unknown): boolean;
}

/**
 * Resolves with the result when the history has reached one of the goals. A status also counts as reached when the
 * order already has a later one. A read with a temporary failure is retried until the time is over.
 * @throws WaitError; the reason of the signal; other errors of the reads
 */
export async function waitForHistory<Result>(
  read: Reads<Result>,
  goals: Goals,
  { timeout = 60_000, signal }: WaitOptions,
): Promise<Result> {
  const end = new AbortController();
  const timer = timeout > longestTimer ? undefined : setTimeout(() => end.abort(), timeout);
  const stop = (): void => end.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  let entries: readonly HistoryEntry[] = [];
  let failure: unknown;
  try {
    for (let wait = firstPause; ; wait = Math.min(longestPause, wait * 1.5)) {
      try {
        entries = await read.history(end.signal);
        failure = undefined;
        if (goals.some((goal) => isReached(entries, goal))) return await read.result(end.signal);
      } catch (error) {
        if (end.signal.aborted || !read.isTemporary(error)) throw error;
        failure = error;
      }
      if (failure === undefined) assertReachable(entries, goals);
      await pause(wait, end.signal);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!end.signal.aborted) throw error;
    const missed = goals.some((goal) => isReached(entries, goal))
      ? 'could not be read'
      : `did not reach ${listed(goals)}`;
    throw new WaitError('timeout', `The order ${missed} within ${timeout / 1_000} s.`, entries, failure);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

type Goals = readonly (OrderStatus | OrderEffect)[];

const listed = (goals: Goals): string => goals.join(' or ');

function assertReachable(entries: readonly HistoryEntry[], goals: Goals): void {
  if (goals.every((goal) => isUnreachable(entries, goal)))
    throw new WaitError('unreachable', `The order ${outcome(entries)}: ${listed(goals)} cannot follow.`, entries);
}

const isEffect = (goal: OrderStatus | OrderEffect): goal is OrderEffect =>
  goal === 'stockReleased' || goal === 'customerNotified';

/** Returns the state of an effect in the newest entry that has it. */
function effectState(entries: readonly HistoryEntry[], effect: OrderEffect): Schemas['Effect']['state'] | undefined {
  return entries.findLast((entry) => entry[effect] !== undefined)?.[effect]?.state;
}

function isReached(entries: readonly HistoryEntry[], goal: OrderStatus | OrderEffect): boolean {
  return isEffect(goal) ? effectState(entries, goal) === 'done' : entries.some(({ status }) => status === goal);
}

/** Returns whether the goal cannot be reached any more. An effect needs a cancellation, which exists or must follow. */
function isUnreachable(entries: readonly HistoryEntry[], goal: OrderStatus | OrderEffect): boolean {
  const state = isEffect(goal) ? effectState(entries, goal) : undefined;
  if (state !== undefined) return state === 'failed';
  const status = entries.at(-1)?.status;
  if (status === undefined || (isEffect(goal) && status === 'cancelled')) return false;
  return nextStatuses[status]?.includes(isEffect(goal) ? 'cancelled' : goal) === false;
}

function outcome(entries: readonly HistoryEntry[]): string {
  const failed = (['stockReleased', 'customerNotified'] as const).filter(
    (each) => effectState(entries, each) === 'failed',
  );
  const status = `is ${entries.at(-1)?.status}`;
  return failed.length === 0 ? status : `${status}, and ${failed.join(' and ')} has failed`;
}
