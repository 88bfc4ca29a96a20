// When a failed request is sent again, and what becomes of an endpoint that fails for long.
import type { Webhook } from './webhook.ts';

const second = 1_000;
const hour = 3_600 * second;

/** Milliseconds after which a change that fails alone is given up, and an endpoint without a success is suspended, or left. */
export const longestFailure = 72 * hour;
/** Milliseconds between two pings of a suspended endpoint. */
export const pingEvery = hour;
/** The failures in a row after which the endpoint as a whole is in trouble: it gets one request at a time. */
export const troubleAfter = 5;

/** Milliseconds before the next attempt after so many failures: full jitter below 5 s, 20 s, 80 s, …, 8 h. */
export function pauseAfter(failures: number): number {
  return Math.random() * Math.min(8 * hour, 5 * second * 4 ** Math.max(failures - 1, 0));
}

/** What the owner is told about an endpoint that fails, and after how many hours. */
export const stages = [
  { hours: 1, stage: 'failing-1-hour' },
  { hours: 24, stage: 'failing-24-hours' },
  { hours: 72, stage: 'suspended' },
] as const;
export type Stage = (typeof stages)[number]['stage'] | 'unanswered' | 'ended';

/** The members of a webhook that the results of requests change. */
export type EndpointState = Pick<
  Webhook,
  'status' | 'isPingDue' | 'failures' | 'failingSince' | 'noticedHours' | 'nextAttemptAt'
>;

interface FailureOptions {
  readonly isGone: boolean;
  readonly isAlone: boolean;
  readonly notBefore: Date | undefined;
  readonly now: Date;
}

/**
 * Returns the state of an endpoint after failures, and what its owner is told.
 * @param isGone whether it answered 410
 * @param isAlone whether nothing else can be sent before the failed message
 * @param notBefore the time before which it wants no request
 */
export function afterFailure(
  state: EndpointState,
  { isGone, isAlone, notBefore, now }: FailureOptions,
): { readonly state: EndpointState; readonly stage?: Stage } {
  const { failures, failingSince } = state;
  if (isGone) return { state: { ...state, status: 'ended', isPingDue: false }, stage: 'ended' };
  const failedFor = now.getTime() - (failingSince ?? now).getTime();
  const reached = stages.findLast(({ hours }) => failedFor >= hours * hour);
  const isNew = reached !== undefined && reached.hours > state.noticedHours;
  const isOver = failedFor >= longestFailure;
  const isUnverified = state.status === 'unverified';
  const isSuspended = !isUnverified && (isOver || state.status === 'suspended');
  const isPaused = isAlone || failures >= troubleAfter;
  const pause = isSuspended ? pingEvery : pauseAfter(isAlone ? failures : failures - troubleAfter + 1);
  // An attempt at the time of the next stage lets the owner be told in time.
  const next = stages.find(({ hours }) => failedFor < hours * hour);
  const atMost = next === undefined ? pause : Math.min(pause, next.hours * hour - failedFor);
  const earliest = isPaused ? now.getTime() + atMost : now.getTime();
  return {
    state: {
      ...state,
      ...(isSuspended && { status: 'suspended' }),
      // A ping that the owner of a webhook asked for is sent once. An endpoint that never answered gets no more after 3 days.
      isPingDue: isSuspended || (isUnverified && !isOver),
      noticedHours: isNew ? reached.hours : state.noticedHours,
      nextAttemptAt: new Date(Math.max(earliest, notBefore?.getTime() ?? 0)),
    },
    ...(isNew && { stage: isUnverified && isOver ? 'unanswered' : reached.stage }),
  };
}

/** The state of an endpoint after a success. */
export const afterSuccess = (state: EndpointState): EndpointState => ({
  ...{ status: 'active', isPingDue: false, failures: 0, failingSince: null, noticedHours: 0 },
  nextAttemptAt: state.nextAttemptAt,
});

/** Returns whether the endpoint as a whole fails. */
export function isInTrouble({ failures, status }: Pick<EndpointState, 'failures' | 'status'>): boolean {
  return failures >= troubleAfter || status === 'suspended';
}
