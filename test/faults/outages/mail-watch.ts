// Finds e-mails that are sent twice. The second file replaces the first, so that the folder shows only one.
import { existsSync, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface MailWatch {
  /** The names of the files that were replaced since the last call, each as often as that. */
  replaced(): string[];
  close(): void;
}

/** Creates the folder, and watches it. */
export async function watchMails(folder: string): Promise<MailWatch> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const written = new Set<string>();
  const replaced: string[] = [];
  const watcher = watch(folder, (event, name) => {
    // A file is renamed when it is complete. Its removal is the same event.
    if (event !== 'rename' || !name?.endsWith('.eml') || !existsSync(join(folder, name))) return;
    if (written.has(name)) replaced.push(name);
    written.add(name);
  });
  return { replaced: () => replaced.splice(0), close: () => watcher.close() };
}
