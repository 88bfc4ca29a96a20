// Writes files that must survive a crash, such as files of secrets, to the disk.
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically. After a power failure the file has either its previous or its new content. The content is
 * on the disk when the promise resolves.
 * @param mode the permissions of the file, such as 0o600
 */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  const partial = `${path}.partial`;
  // An interrupted run may have left a read-only partial file. A container's root cannot write to it, but can delete
  // it.
  await rm(partial, { force: true });
  await writeFile(partial, content, { mode, flush: true });
  await rename(partial, path);
  await syncFolder(dirname(path));
}

/** Flushes the entries of a folder, such as the names of new and renamed files, to the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  await folder.sync();
  await folder.close();
}
