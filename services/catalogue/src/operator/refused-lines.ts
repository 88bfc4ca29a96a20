// The report of the lines that an import rejected, as JSON lines. The file exists only when a line was rejected.
import { open, readFile, rm } from 'node:fs/promises';
import { StartError } from '@shop/shared/runtime';
import type { RefusedLine } from '../imports/imported-product.ts';

export interface Report {
  /** Writes entries after the retained ones. Unless `keep` was called, the next call overwrites these entries. */
  write(lines: readonly RefusedLine[]): Promise<void>;
  keep(): void;
  /** Truncates the file after the retained lines, and removes an empty file. */
  close(): Promise<void>;
}

/**
 * Opens a new report, or the report of an interrupted import.
 * @param upTo the last line with an entry that is retained; entries of later lines are written again
 * @throws StartError when the file cannot be written
 */
export async function openReport(path: string, upTo: number): Promise<Report> {
  const kept = upTo === 0 ? '' : entriesUpTo(await readFile(path, 'utf8').catch(() => ''), upTo);
  const file = await open(path, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`cannot write the report of refused lines, ${path} (${error.code}): name another --refused`);
  });
  let position = Buffer.byteLength(kept);
  let end = position;
  await file.write(kept, 0);
  return {
    async write(lines) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      await file.write(text, position);
      end = position + Buffer.byteLength(text);
    },
    keep() {
      position = end;
    },
    async close() {
      await file.truncate(position);
      await file.close();
      if (position === 0) await rm(path, { force: true });
    },
  };
}

/**
 * Returns the entries of lines up to `upTo`. An incomplete entry, left by a process that died, belongs to a later line.
 */
function entriesUpTo(text: string, upTo: number): string {
  const entries = text.split('\n').filter((entry) => {
    try {
      return (JSON.parse(entry) as RefusedLine).line <= upTo;
    } catch {
      return false;
    }
  });
  return entries.map((entry) => `${entry}\n`).join('');
}
