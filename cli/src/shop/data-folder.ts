// The data folder: its files, and the process that uses it.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { lockFolder, makeDataFolder, processIdentity } from '@shop/shared/embedded';
import { StartError, toReason, writeWhole } from '@shop/shared/runtime';

export interface DataFolder {
  readonly path: string;
  readonly postgres: string;
  readonly mail: string;
  readonly logs: string;
  readonly compileCache: string;
  readonly secrets: string;
}

/** The data that a running shop announces to the command line. It contains passwords, as the file of secrets does. */
export interface RunningShop {
  /** Identifies the launcher process. */
  readonly launcher: string;
  readonly gateway: string;
  /** The address of each process, including the gateway. */
  readonly processes: Readonly<Record<string, string>>;
  /** The address of the metrics of each process. */
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
 * Creates the folder when it does not exist, and locks it for this process.
 * @returns the function that releases the lock, and whether an earlier owner died without releasing it
 * @throws StartError when the folder cannot be written or is in use
 */
export async function takeFolder(folder: DataFolder): Promise<{ release(): Promise<void>; abandoned: boolean }> {
  try {
    await makeDataFolder(folder.path);
    // These folders contain customers' addresses.
    for (const path of [folder.logs, folder.mail]) await mkdir(path, { recursive: true, mode: 0o700 });
    const lock = await lockFolder(folder.path);
    await rm(runningFile(folder), { force: true });
    const release = async (): Promise<void> => {
      await rm(runningFile(folder), { force: true });
      await lock.release();
    };
    return { release, abandoned: lock.previousOwner !== undefined };
  } catch (error) {
    throw new StartError(toReason(error));
  }
}

/** Announces the running shop to the command line. */
export async function announce(folder: DataFolder, shop: Omit<RunningShop, 'launcher'>): Promise<void> {
  const launcher = (await processIdentity(process.pid)) ?? '';
  await writeWhole(runningFile(folder), JSON.stringify({ launcher, ...shop } satisfies RunningShop), 0o600);
}

/** Returns the shop that runs on this folder; undefined when no shop runs, and while it starts or stops. */
export async function findRunning(folder: DataFolder): Promise<RunningShop | undefined> {
  const content = await readFile(runningFile(folder), 'utf8').catch(() => undefined);
  if (content === undefined) return undefined;
  const shop = JSON.parse(content) as RunningShop;
  return (await processIdentity(Number.parseInt(shop.launcher, 10))) === shop.launcher ? shop : undefined;
}

function runningFile(folder: DataFolder): string {
  return join(folder.path, 'running.json');
}
