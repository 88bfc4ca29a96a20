// Writes every line of a process to a file, and shows warnings and errors on the terminal.

import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { toReason } from '@shop/shared/runtime';
import { withoutControls } from '../output/table.ts';

export interface LogFile {
  /**
   * Writes all lines of a stream. Shows JSON lines of pino at level warn and above; `plain` decides about other lines.
   */
  take(stream: Readable, plain: (line: string) => void): void;
  close(): void;
}

const rotateAt = 10 * 1024 * 1024;
const warn = 40;
/** Milliseconds after an error, such as that of a full disk, during which lines are not written. */
const openAgainAfter = 5_000;

/** Appends to `<folder>/<name>.log`. A file above 10 MiB is first renamed to `<name>.log.1`. Errors are shown. */
export function openLogFile(folder: string, name: string, show: (line: string) => void): LogFile {
  const path = join(folder, `${name}.log`);
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > rotateAt) renameSync(path, `${path}.1`);
  } catch (error) {
    show(`cannot put the log aside: ${toReason(error)}`);
  }
  let file: WriteStream | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  // A stream is unusable after an error, so a later line opens the file again.
  const open = (): WriteStream => {
    const opened = createWriteStream(path, { flags: 'a', mode: 0o600 });
    opened.on('error', (error) => {
      show(`cannot write the log: ${error.message}`);
      failedAt = performance.now();
      file = undefined;
    });
    return opened;
  };
  const write = (line: string): void => {
    if (file === undefined && performance.now() - failedAt < openAgainAfter) return;
    file ??= open();
    file.write(`${line}\n`);
  };
  return {
    take(stream, plain) {
      createInterface({ input: stream }).on('line', (line) => {
        write(line);
        if (line.startsWith('{')) {
          const warning = /"level":[456]0/.test(line) ? toWarning(line) : undefined;
          if (warning !== undefined) show(warning);
        } else plain(line);
      });
    },
    close: () => file?.end(),
  };
}

/** Returns the message of a JSON line at level warn or above, on one line. */
export function toWarning(line: string): string | undefined {
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if (level === undefined || level < warn) return undefined;
    const cause = err?.message?.split('\n')[0];
    return withoutControls(cause === undefined || cause === msg ? `${msg}` : `${msg}: ${cause}`);
  } catch {
    return undefined; // a line that only looks like JSON stays in the file
  }
}
