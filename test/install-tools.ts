// Installs the tools of a folder of tests that has a package.json and a lock file of its own.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lockFolder } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';

/** Milliseconds within which another process has installed the tools. */
const installedWithin = 300_000;

export interface Tools {
  /**
   * Installs the tools of the lock file, unless they are installed already. Only one process does so at a time, because
   * test files run concurrently.
   */
  install(): Promise<void>;
  /** Returns the path of an installed tool. */
  path(...path: readonly string[]): string;
}

/** @param folder the folder of package.json and package-lock.json */
export function toolsOf(folder: URL): Tools {
  const here = fileURLToPath(folder);
  const path = (...names: readonly string[]): string => join(here, 'node_modules', ...names);
  return {
    path,
    async install() {
      const folderLock = await eventually(() => lockFolder(here), installedWithin);
      try {
        const lock = await readFile(join(here, 'package-lock.json'), 'utf8');
        const mark = path('.installed');
        if (existsSync(mark) && (await readFile(mark, 'utf8')) === lock) return;
        await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here });
        await writeFile(mark, lock);
      } finally {
        await folderLock.release();
      }
    },
  };
}
