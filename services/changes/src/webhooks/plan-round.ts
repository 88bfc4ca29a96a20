// What a round sends: the parked subjects that are due, and the next changes of the others, each as one chain.
import type { Change } from '../feed/change.ts';
import type { Chain, ChainResult } from './run-chains.ts';
import type { ParkedSubject } from './sender-store.ts';

/** A parked subject that is sent again, with its changes that the owner still sees. */
export interface DueSubject {
  readonly subject: ParkedSubject;
  readonly changes: readonly Change[];
}

export interface RoundPlan {
  readonly chains: readonly Chain[];
  /** Parked subjects that are not due, with the changes that now wait behind them. */
  readonly extended: readonly ParkedSubject[];
}

export interface RoundOptions {
  /** Whether only the newest change of each subject is sent. */
  readonly collapse: boolean;
  /** Whether only the first change is sent, to find out whether the endpoint works again. */
  readonly isProbe: boolean;
}

const keyOf = ({ source, subject }: Pick<Change, 'source' | 'subject'>): string => `${source} ${subject}`;

/** @param next the changes after the cursor */
export function planRound(
  parked: readonly ParkedSubject[],
  due: readonly DueSubject[],
  next: readonly Change[],
  { collapse, isProbe }: RoundOptions,
): RoundPlan {
  const groups = Map.groupBy(next, keyOf);
  const toChain = (changes: readonly Change[], subject?: ParkedSubject): Chain => {
    const { source = '', subject: id = '' } = subject ?? changes[0] ?? {};
    const sent = collapse ? changes.slice(-1) : changes;
    const [now, later] = isProbe ? [sent.slice(0, 1), sent.slice(1)] : [sent, []];
    return { source, subject: id, changes: now, later: later.map(({ position }) => position), parked: subject };
  };
  const retried = due.map(({ subject, changes }) => {
    // A replay can reach changes again that wait already.
    const last = changes.at(-1)?.position ?? 0;
    const added = (groups.get(keyOf(subject)) ?? []).filter(({ position }) => position > last);
    return toChain([...changes, ...added], subject);
  });
  const known = new Set(parked.map(keyOf));
  const fresh = [...groups].filter(([key]) => !known.has(key)).map(([, changes]) => toChain(changes));
  const isDue = new Set(due.map(({ subject }) => subject));
  const extended = parked.flatMap((subject) => {
    const last = subject.later.at(-1) ?? subject.position;
    const added = (groups.get(keyOf(subject)) ?? []).map(({ position }) => position).filter((one) => one > last);
    return isDue.has(subject) || added.length === 0 ? [] : [{ ...subject, later: [...subject.later, ...added] }];
  });
  return { chains: [...retried, ...fresh], extended };
}

/** Returns what is stored of a subject after a round: undefined when none of its changes waits. */
export function toParked(
  { chain, done, failed, isGivenUp = false }: ChainResult,
  retryAt: (failures: number) => Date,
  now: Date,
): ParkedSubject | undefined {
  const { source, subject, parked } = chain;
  const rest = chain.changes.slice(isGivenUp ? done + 1 : done).map(({ position }) => position);
  const [position, ...later] = [...rest, ...chain.later];
  if (position === undefined) return undefined;
  const waiting = { source, subject, position, later };
  const before = done === 0 && !isGivenUp ? parked : undefined;
  if (failed === undefined || isGivenUp) {
    // The change was not sent, because the endpoint or the process stopped.
    return { ...waiting, ...(before ?? { failures: 0, failingSince: now, nextAttemptAt: now }), position, later };
  }
  const failures = (before?.failures ?? 0) + 1;
  const failingSince = failures === 1 ? failed.startedAt : (before?.failingSince ?? failed.startedAt);
  return { ...waiting, failures, failingSince, nextAttemptAt: retryAt(failures) };
}
