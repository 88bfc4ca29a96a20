// Watches the source files of a running shop and reports which processes a change concerns.

import { join, relative, sep } from 'node:path';
import { serviceNames } from '@shop/shared/shop';
import type { ProcessName } from '../shop/processes.ts';
import { watchTree } from './watch-tree.ts';

const everyProcess: readonly ProcessName[] = ['gateway', ...serviceNames];
const watchedFolders = ['shared', 'services', 'gateway', 'web', 'docs', 'client', 'examples'] as const;
const sourceFile = /\.(?:ts|ya?ml|css|js|html|svg|md)$/;
/** An editor writes a file in several steps, and a branch switch writes many files: one restart covers them. */
const quietTime = 150;

/**
 * Maps each path in the checkout to the processes that read the file. Tests and unused files have none. The gateway
 * reads the contracts of the services.
 */
export function findProcesses(path: string): readonly ProcessName[] {
  const [folder = '', name = ''] = path.split(sep);
  if (!sourceFile.test(path) || /[/\\](?:test|testing|node_modules|migrations)[/\\]/.test(path)) return [];
  if (folder === 'shared') return everyProcess;
  // The storefront is part of the gateway's pages, and includes the client.
  if (['gateway', 'web', 'docs', 'client'].includes(folder)) return ['gateway'];
  if (folder === 'examples') return name === 'storefront' ? ['gateway'] : [];
  const service = serviceNames.find((each) => each === name);
  if (service === undefined) return [];
  return /api\.yaml$/.test(path) ? ['gateway', service] : [service];
}

/**
 * Calls `changed` with the files that changed together and the processes that read them.
 * @param root the checkout
 * @returns a function that stops watching
 */
export function watchSources(
  root: string,
  changed: (files: readonly string[], processes: readonly ProcessName[]) => void,
): () => void {
  const files = new Set<string>();
  let quiet: NodeJS.Timeout | undefined;
  const report = (): void => {
    const together = [...files].sort();
    files.clear();
    const concerned = new Set(together.flatMap(findProcesses));
    changed(
      together,
      everyProcess.filter((name) => concerned.has(name)),
    );
  };
  const stops = watchedFolders.map((folder) =>
    watchTree(join(root, folder), (path) => {
      const file = relative(root, path);
      if (findProcesses(file).length === 0) return;
      files.add(file);
      clearTimeout(quiet);
      quiet = setTimeout(report, quietTime);
    }),
  );
  return () => {
    clearTimeout(quiet);
    for (const stop of stops) stop();
  };
}
