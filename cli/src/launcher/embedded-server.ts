// The embedded PostgreSQL server as a supervised part of the shop.
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@shop/shared/database';
import {
  DataGoneError,
  type EmbeddedPostgres,
  freePorts,
  requireData,
  startEmbeddedPostgres,
} from '@shop/shared/embedded';
import { StartError, toReason } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import type { Run } from './supervise.ts';

export interface ServerOptions {
  /** Called with an explanation when the data was deleted while the shop ran. */
  readonly gone: (message: string) => void;
  /** Milliseconds between two probes, and milliseconds within which a connection must respond. */
  readonly probe?: Probe;
}

interface Probe {
  readonly every: number;
  readonly within: number;
}

/** The number of consecutive failed probes after which the server is restarted. */
const mostUnanswered = 3;

/**
 * Runs the embedded server. A restarted server listens on the same port, so that the services find it. Only the first
 * run creates missing data. A server with only hanging connections is stopped, so that it is restarted.
 */
export async function embeddedServer(
  dataDir: string,
  { gone, probe = { every: 5_000, within: 10_000 } }: ServerOptions,
): Promise<{ launch(): Run; url(): Promise<string> }> {
  const [port = 0] = await freePorts(1);
  let latest: Promise<EmbeddedPostgres> | undefined;
  return {
    launch() {
      const server = startEmbeddedPostgres({ dataDir, port, durable: true, mustExist: latest !== undefined });
      latest = server;
      const explain = (error: unknown): string => {
        if (error instanceof DataGoneError) gone(afterDeletion(error));
        return toReason(error);
      };
      return {
        ready: server.then(
          () => {},
          (error: unknown) => Promise.reject(new StartError(toReason(error))),
        ),
        ended: server.then((running) => endOf(running, dataDir, probe), explain),
        stop: () =>
          server.then(
            (running) => running.stop(),
            () => {}, // there is nothing to stop
          ),
      };
    },
    async url() {
      if (latest === undefined) throw new Error('the embedded server was not launched');
      return (await latest).url;
    },
  };
}

/** Returns the reason for which the server has ended, or was ended because it could not be used. */
async function endOf(server: EmbeddedPostgres, dataDir: string, probe: Probe): Promise<string> {
  const over = new AbortController();
  const ended = server.ended.then(() => {
    over.abort();
    return 'PostgreSQL has stopped';
  });
  const fault = await Promise.race([ended, findFault(server.url, dataDir, probe, over.signal)]);
  if (!over.signal.aborted) await server.stop(true);
  return fault;
}

/** Resolves with the fault that requires a restart of the server. Never resolves when `over` is aborted first. */
async function findFault(url: string, dataDir: string, { every, within }: Probe, over: AbortSignal): Promise<string> {
  for (let unanswered = 0; unanswered < mostUnanswered; ) {
    await sleep(every, undefined, { ref: false });
    if (over.aborted) return new Promise(() => {});
    const missing = await requireData(dataDir).then(() => undefined, toReason);
    if (missing !== undefined) return missing;
    unanswered = (await answers(url, within)) ? 0 : unanswered + 1;
  }
  return `no connection answered, ${mostUnanswered} times within ${within / 1000} s`;
}

/** Returns whether the server responds to a connection at all, including with a rejection. */
async function answers(url: string, within: number): Promise<boolean> {
  const limits = { connectWithin: 2 * within, queryWithin: 2 * within };
  const answer = withClient({ url, name: 'probe', ...limits }, (client) => client.query('SELECT 1'));
  const settled = answer.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, sleep(within, false, { ref: false })]);
}

function afterDeletion({ message }: DataGoneError): string {
  const [start, restore] = [operatorCommand('start'), operatorCommand('shop', 'restore FOLDER')];
  return (
    `${message}: it was deleted while the shop ran, and its data with it. Nothing was created in its place. ` +
    `${restore} restores a backup; ${start} begins with an empty shop.`
  );
}
