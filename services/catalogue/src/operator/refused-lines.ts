// The report of the lines that an import refused: JSON lines in a file that is there only when there are any.
import { open, readFile, rm } from 'node:fs/promises';
import { StartError } from '@shop/shared/runtime';
import type { RefusedLine } from './imported-product.ts';

export interface Report {
  /** Writes lines after those that are kept; written again unless `keep` is called in between. */
  write(lines: readonly RefusedLine[]): Promise<void>;
  keep(): void;
  /** Leaves what was kept; no file when that is nothing. */
  close(): Promise<void>;
}

/**
 * Opens the report anew, or with what an interrupted import has left in it.
 * @param upTo the last line whose entry is still good: what comes after it is said again
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

/** An entry that was cut off by the end of the process comes after `upTo`. */
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
