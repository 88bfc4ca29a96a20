// Reads the settings of every process as the processes themselves do, before any of them is started.
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { schemas } from '@shop/shared/database';
import { ConfigError, type Environment, StartError } from '@shop/shared/runtime';
import { readProcessSettings } from '@shop/shared/telemetry';
import type { DataFolder } from './data-folder.ts';
import type { DatabaseUrls } from './database.ts';
import { shopProcesses } from './processes.ts';
import { type KeptSecrets, secretVariables } from './secrets.ts';
import { readSettings } from './settings.ts';

type Reader = (environment: Environment) => unknown;

/**
 * Returns every error in the settings once, followed by the affected processes in parentheses. `shop` stands for `npm
 * start` and the command line. The processes get the environment that `npm start` would pass to them.
 * @param given the variables that the operator has set
 */
export async function settingsMistakes(given: NodeJS.ProcessEnv): Promise<string[]> {
  const found = new Map<string, string[]>();
  const report = (name: string, mistakes: readonly string[]): void => {
    for (const mistake of mistakes) found.set(mistake, [...(found.get(mistake) ?? []), name]);
  };
  const own = mistakesOf(readSettings, given);
  report('shop', own);

  const settings = readSettings(own.length === 0 ? given : {});
  const processes = await shopProcesses({ settings, given, folder, secrets: anySecrets, databases: anyDatabases });
  for (const { name, script, environment } of processes) {
    // As a URL, because `import` would read a path with `#`, `?` or `%` as one.
    const config = pathToFileURL(join(dirname(script), 'config.ts')).href;
    const { readEnvironment } = (await import(config)) as { readEnvironment: Reader };
    report(
      name,
      mistakesOf((each) => readProcessSettings(each, readEnvironment), environment),
    );
  }
  return [...found].map(([mistake, names]) => {
    return `${mistake} (${names.length === processes.length ? 'every process' : names.join(', ')})`;
  });
}

/** @throws StartError that lists every error in the settings of all processes */
export async function requireSettings(given: NodeJS.ProcessEnv): Promise<void> {
  const mistakes = await settingsMistakes(given);
  if (mistakes.length === 0) return;
  const heading =
    'Nothing was started. Correct these settings in the environment or in .env; .env.example describes them:';
  throw new StartError([heading, ...mistakes.map((mistake) => `  ${mistake}`)].join('\n'));
}

function mistakesOf(read: Reader, environment: Environment): readonly string[] {
  try {
    read(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes;
  }
}

/** Placeholders for the values that `npm start` generates. */
const folder = { compileCache: '', mail: '' } as DataFolder;
const anySecret = Buffer.alloc(32).toString('base64url');
const anySecrets: KeptSecrets = {
  roles: {} as KeptSecrets['roles'],
  variables: Object.fromEntries(secretVariables.map((name) => [name, anySecret])),
  mailPageKey: anySecret,
};
const somewhere = 'postgres://role:password@localhost/shop';
const anyDatabases = Object.fromEntries(schemas.map((name) => [name, somewhere])) as DatabaseUrls;
