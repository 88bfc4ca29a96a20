// Writes every line of a process to a file, and shows warnings and errors on the terminal.
import { createWriteStream, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface LogFile {
  /**
   * Writes all lines of a stream. Shows JSON lines of pino at level warn and above; `plain` decides about other lines.
   */
  take(stream: Readable, plain: (line: string) => void): void;
  close(): void;
}

const rotateAt = 10 * 1024 * 1024;
const warn = 40;

/** Appends to `<folder>/<name>.log`. A file above 10 MiB is first renamed to `<name>.log.1`. Errors are shown. */
export function openLogFile(folder: string, name: string, show: (line: string) => void): LogFile {
  const path = join(folder, `${name}.log`);
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > rotateAt) renameSync(path, `${path}.1`);
  } catch (error) {
    show(`cannot put the log aside: ${error instanceof Error ? error.message : error}`);
  }
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  file.on('error', (error) => show(`cannot write the log: ${error.message}`));
  return {
    take(stream, plain) {
      createInterface({ input: stream }).on('line', (line) => {
        file.write(`${line}\n`);
        if (line.startsWith('{')) {
          const warning = /"level":[456]0/.test(line) ? toWarning(line) : undefined;
          if (warning !== undefined) show(warning);
        } else plain(line);
      });
    },
    close: () => file.end(),
  };
}

/** The text of a JSON line at level warn or above, on one line. */
export function toWarning(line: string): string | undefined {
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if (level === undefined || level < warn) return undefined;
    const cause = err?.message?.split('\n')[0];
    return cause === undefined || cause === msg ? `${msg}` : `${msg}: ${cause}`;
  } catch {
    return undefined; // a line that only looks like JSON stays in the file
  }
}
