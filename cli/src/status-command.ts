// `status`: what runs, and whether it is ready.
import { Command } from 'commander';
import { dataFolder, findRunning } from './data-folder.ts';
import { type Output, print, withJson } from './output.ts';
import { givenEnvironment, readSettings } from './settings.ts';
import { table } from './table.ts';

interface ProcessStatus {
  readonly name: string;
  readonly url: string;
  readonly state: 'ready' | 'not ready' | 'no answer';
  /** Names of the checks that fail. */
  readonly failing: readonly string[];
}

const answerWithin = 2_000;

export function statusCommand(): Command {
  return withJson(
    new Command('status').description('show what runs and whether it is ready; exit code 1 if not'),
  ).action(async (output: Output) => {
    const folder = dataFolder(readSettings(givenEnvironment()).dataDir);
    const shop = await findRunning(folder);
    const processes = await Promise.all(
      Object.entries(shop?.processes ?? {}).map(([name, url]) => statusOf(name, url)),
    );
    const ready = shop !== undefined && processes.every(({ state }) => state === 'ready');
    if (!ready) process.exitCode = 1;
    print(output, { running: shop !== undefined, ready, data: folder.path, processes }, () =>
      shop === undefined
        ? `No shop runs on ${folder.path}: run npm start, or set SHOP_DATA_DIR.`
        : table([
            ['PROCESS', 'STATE', 'ADDRESS', 'FAILING'],
            ...processes.map(({ name, state, url, failing }) => [name, state, url, failing.join(' ')]),
          ]),
    );
  });
}

async function statusOf(name: string, url: string): Promise<ProcessStatus> {
  try {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(answerWithin) });
    const { checks = {} } = (await answer.json()) as { checks?: Record<string, string> };
    const failing = Object.keys(checks).filter((check) => checks[check] !== 'ok');
    return { name, url, state: answer.ok ? 'ready' : 'not ready', failing };
  } catch {
    return { name, url, state: 'no answer', failing: [] };
  }
}
