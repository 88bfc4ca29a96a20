// Stores files on the disk that must not be lost, such as secrets.
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically. After a failure of the power the file has its former or its new content, and it is stored
 * on the disk when the promise resolves.
 * @param mode the permissions of the file, such as 0o600
 */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  const partial = `${path}.partial`;
  // An interrupted run may have left one that nobody may write, and a container's root has no rights beyond that.
  await rm(partial, { force: true });
  await writeFile(partial, content, { mode, flush: true });
  await rename(partial, path);
  await syncFolder(dirname(path));
}

/** Stores the names of new and renamed files of a folder on the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  await folder.sync();
  await folder.close();
}
