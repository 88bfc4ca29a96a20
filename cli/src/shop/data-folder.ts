// The data folder: what lies where in it, and who uses it at the moment.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { lockFolder, makeDataFolder, processIdentity } from '@shop/shared/embedded';
import { StartError } from '@shop/shared/runtime';

export interface DataFolder {
  readonly path: string;
  readonly postgres: string;
  readonly mail: string;
  readonly logs: string;
  readonly compileCache: string;
  readonly secrets: string;
}

/** What a running shop tells the command line. Holds passwords, like the file with the secrets. */
export interface RunningShop {
  /** The process that started it. */
  readonly launcher: string;
  readonly gateway: string;
  /** Address of each process, the gateway among them. */
  readonly processes: Readonly<Record<string, string>>;
  /** Where each process offers its metrics. */
  readonly metrics: Readonly<Record<string, string>>;
  /** Connection string of each role. */
  readonly databases: Readonly<Record<string, string>>;
  readonly eventsUrl: string;
}

export function dataFolder(path: string): DataFolder {
  const at = (name: string): string => join(resolve(path), name);
  return {
    path: resolve(path),
    postgres: at('postgres'),
    mail: at('mail'),
    logs: at('logs'),
    compileCache: at('cache'),
    secrets: at('secrets.json'),
  };
}

/**
 * Makes the folder where it is missing and takes it for this process.
 * @returns the function that gives it free again, and whether an earlier user died without doing so
 * @throws StartError when the folder cannot be written or is in use
 */
export async function takeFolder(folder: DataFolder): Promise<{ release(): Promise<void>; abandoned: boolean }> {
  try {
    await makeDataFolder(folder.path);
    // Customers' addresses lie in them.
    for (const path of [folder.logs, folder.mail]) await mkdir(path, { recursive: true, mode: 0o700 });
    const lock = await lockFolder(folder.path);
    await rm(runningFile(folder), { force: true });
    const release = async (): Promise<void> => {
      await rm(runningFile(folder), { force: true });
      await lock.release();
    };
    return { release, abandoned: lock.previousOwner !== undefined };
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error));
  }
}

/** Tells the command line that the shop runs. */
export async function announce(folder: DataFolder, shop: Omit<RunningShop, 'launcher'>): Promise<void> {
  const launcher = (await processIdentity(process.pid)) ?? '';
  await writePrivately(runningFile(folder), JSON.stringify({ launcher, ...shop } satisfies RunningShop));
}

/** The shop that runs on this folder; undefined when none does, or while it starts or stops. */
export async function findRunning(folder: DataFolder): Promise<RunningShop | undefined> {
  const content = await readFile(runningFile(folder), 'utf8').catch(() => undefined);
  if (content === undefined) return undefined;
  const shop = JSON.parse(content) as RunningShop;
  return (await processIdentity(Number.parseInt(shop.launcher, 10))) === shop.launcher ? shop : undefined;
}

/** Writes a file that only its owner can read, whole or not at all. */
export async function writePrivately(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function runningFile(folder: DataFolder): string {
  return join(folder.path, 'running.json');
}
