// RabbitMQ for tests: one server for each run, started when the first test file requests it, and shared by all of them.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrokerServer, startBrokerServer } from './broker-server.ts';

/** The variable with the folder through which the processes of a run exchange messages. `offerBroker` sets it. */
const folderVariable = 'SHOP_TEST_BROKER_FOLDER';

type Answer = { readonly url: string } | { readonly error: string };

/**
 * Starts the broker as soon as a test file requests it. Called once by the set-up of a run.
 * @param folder of the run, which exists and is removed after it
 * @returns a function that stops the broker
 */
export function offerBroker(folder: string): () => Promise<void> {
  process.env[folderVariable] = folder;
  let server: Promise<BrokerServer> | undefined;
  const timer = setInterval(() => {
    if (server !== undefined || !existsSync(join(folder, 'broker-wanted'))) return;
    clearInterval(timer);
    server = startBrokerServer();
    server
      .then(
        ({ url }): Answer => ({ url }),
        (error: unknown): Answer => ({ error: error instanceof Error ? error.message : String(error) }),
      )
      .then(async (answer) => {
        await writeFile(join(folder, 'broker.partial'), JSON.stringify(answer));
        await rename(join(folder, 'broker.partial'), join(folder, 'broker.json'));
      })
      .catch(() => {}); // the run is over and its folder gone
  }, 50);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await (await server?.catch(() => undefined))?.stop();
  };
}

/**
 * Returns the EVENTS_URL of the run's broker with a new namespace. The first call of a run waits until the broker has
 * started.
 * @throws Error that names the ways to install a broker when there is none
 */
export async function testBroker(): Promise<string> {
  const folder = process.env[folderVariable];
  if (folder === undefined) throw new Error(`${folderVariable} is not set: run the tests through npm test`);
  await writeFile(join(folder, 'broker-wanted'), '');
  while (!existsSync(join(folder, 'broker.json'))) await sleep(50);
  const answer = JSON.parse(await readFile(join(folder, 'broker.json'), 'utf8')) as Answer;
  if ('error' in answer) throw new Error(answer.error);
  const url = new URL(answer.url);
  url.searchParams.set('namespace', `test_${randomBytes(6).toString('hex')}`);
  return url.href;
}
