// Sends the changes of each subject one after the other, and those of several subjects at the same time.
import type { Change } from '../feed/change.ts';
import type { Endpoint } from './endpoint.ts';
import { longestFailure } from './retry.ts';
import type { Attempt } from './send-request.ts';
import type { ParkedSubject } from './sender-store.ts';

/** Changes of one subject that have to be sent, in their order. */
export interface Chain {
  readonly source: string;
  readonly subject: string;
  readonly changes: readonly Change[];
  /** The positions of the changes after these, which wait. */
  readonly later: readonly number[];
  /** Set when the subject was parked before. */
  readonly parked?: ParkedSubject | undefined;
}

/** What became of a chain. */
export interface ChainResult {
  readonly chain: Chain;
  /** The number of changes that need no further attempt. */
  readonly done: number;
  /** The attempt after which the chain stopped; undefined for one that was finished or not begun. */
  readonly failed?: Attempt | undefined;
  /** Whether the change of this attempt is not sent again. */
  readonly isGivenUp?: boolean;
}

/** Sends a change. Returns undefined when the process stops before it is sent. */
export type SendChange = (
  change: Change,
  about: {
    /** Whether it failed before. */
    readonly isRetry: boolean;
    /** Whether it is given up when it fails. */
    readonly isLast: boolean;
  },
) => Promise<Attempt | undefined>;

interface RunOptions {
  readonly endpoint: Endpoint;
  readonly send: SendChange;
  /** Whether the process stops. */
  readonly isStopping: () => boolean;
}

export async function runChains(chains: readonly Chain[], options: RunOptions): Promise<ChainResult[]> {
  const { endpoint, isStopping } = options;
  const results = new Map<Chain, ChainResult>(chains.map((chain) => [chain, { chain, done: 0 }]));
  const waiting = [...chains];
  const running = new Set<Promise<void>>();
  const faults: unknown[] = [];
  for (;;) {
    while (running.size < endpoint.concurrency && !endpoint.isStopped && !isStopping() && faults.length === 0) {
      const chain = waiting.shift();
      if (chain === undefined) break;
      const run: Promise<void> = runChain(chain, options)
        .then((result) => void results.set(chain, result))
        .catch((error: unknown) => void faults.push(error))
        .finally(() => running.delete(run));
      running.add(run);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  if (faults.length > 0) throw faults[0];
  return [...results.values()];
}

async function runChain(chain: Chain, { endpoint, send, isStopping }: RunOptions): Promise<ChainResult> {
  const { changes, parked } = chain;
  for (const [done, change] of changes.entries()) {
    if (endpoint.isStopped || isStopping()) return { chain, done };
    const isRetry = done === 0 && parked !== undefined && parked.failures > 0;
    const isLast = isRetry && isOld(parked) && !endpoint.isInTrouble && !endpoint.hasFailedFor(longestFailure);
    const failed = await send(change, { isRetry, isLast });
    if (failed === undefined) return { chain, done };
    if (failed.error !== undefined) return { chain, done, failed, isGivenUp: isLast && failed.status !== 410 };
  }
  return { chain, done: changes.length };
}

const isOld = ({ failingSince }: ParkedSubject): boolean => Date.now() - failingSince.getTime() >= longestFailure;
