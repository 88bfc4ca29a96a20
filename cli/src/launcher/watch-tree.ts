// Watches a folder and all folders below it.
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join, sep } from 'node:path';

/** Packages are not edited, and have thousands of folders. */
const unwatched = 'node_modules';

/**
 * Watches each folder separately. The recursive watch of Node.js on Linux watches files instead of names. So it does
 * not report a file that was once replaced by another one, as `sed -i` and many editors do.
 * @param changed called with the path of each file or folder that was written, created, replaced or removed
 * @returns a function that stops watching
 */
export function watchTree(root: string, changed: (path: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>();

  const forget = (folder: string): void => {
    for (const [path, watcher] of watchers) {
      if (path !== folder && !path.startsWith(folder + sep)) continue;
      watcher.close();
      watchers.delete(path);
    }
  };
  const add = (folder: string, found: (path: string) => void): void => {
    const watcher = watch(folder, (event, name) => {
      if (name === null) return;
      const path = join(folder, name);
      changed(path);
      if (event === 'rename' && name !== unwatched) renew(path);
    });
    watcher.on('error', () => forget(folder)); // for example when a folder is removed on Windows
    watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) found(path);
      else if (entry.name !== unwatched) add(path, found);
    }
  };
  /** Watches a folder that was created, moved or removed. It may contain files before it is watched. */
  const renew = (path: string): void => {
    forget(path);
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) add(path, changed);
    } catch {
      forget(path); // it was removed meanwhile
    }
  };

  add(root, () => {});
  return () => forget(root);
}
