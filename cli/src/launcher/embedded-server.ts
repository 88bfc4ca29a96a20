// The embedded PostgreSQL server as a supervised part of the shop.
import { type EmbeddedPostgres, freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { StartError } from '@shop/shared/runtime';
import type { Run } from './supervise.ts';

/** A run of the embedded server. A restarted server listens on the same port, so that the services find it. */
export async function embeddedServer(dataDir: string): Promise<{ launch(): Run; url(): Promise<string> }> {
  const [port = 0] = await freePorts(1);
  let latest: Promise<EmbeddedPostgres> | undefined;
  return {
    launch() {
      const server = startEmbeddedPostgres({ dataDir, port, durable: true });
      latest = server;
      return {
        ready: server.then(
          () => {},
          (error: Error) => Promise.reject(new StartError(error.message)),
        ),
        ended: server.then(
          (running) => running.ended.then(() => 'PostgreSQL has stopped'),
          (error: Error) => error.message,
        ),
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
