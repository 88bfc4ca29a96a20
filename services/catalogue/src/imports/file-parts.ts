// Splits a file into parts, each imported in one transaction, and splits a part into its lines.
import { Problem } from '@shop/shared/problem';

export interface FilePart {
  /** The number of its first line in the file, counted from 1. */
  readonly firstLine: number;
  /** The bytes of complete lines. */
  readonly bytes: Buffer;
}

export interface FileLine {
  readonly line: number;
  /** The line without its LF. */
  readonly bytes: Buffer;
  /** The offset after this line, including its LF. */
  readonly end: number;
}

/** The maximum number of lines of a file, so that short lines cannot delay other requests. */
const mostLinesOfFile = 100_000;
/** The maximum number of lines of a part. */
export const mostLines = 500;
/** The minimum size of a part, which ends after a complete line. */
const partBytes = 256 * 1024;
const lf = 10;

/**
 * Splits a file. Lines end only with LF, because JSON strings may contain every other separator. The last line may lack
 * it.
 * @throws Problem 400 when the file has too many lines
 */
export function divideFile(file: Buffer): { readonly lines: number; readonly parts: readonly FilePart[] } {
  const parts: FilePart[] = [];
  let line = 0;
  let [firstLine, from] = [1, 0];
  for (let start = 0; start < file.length; ) {
    const end = endOfLine(file, start);
    line += 1;
    if (line > mostLinesOfFile) throw tooManyLines();
    if (line - firstLine + 1 === mostLines || end - from >= partBytes || end === file.length) {
      parts.push({ firstLine, bytes: file.subarray(from, end) });
      [firstLine, from] = [line + 1, end];
    }
    start = end;
  }
  return { lines: line, parts };
}

export function linesOf({ firstLine, bytes }: FilePart): FileLine[] {
  const lines: FileLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = endOfLine(bytes, start);
    const last = bytes[end - 1] === lf ? end - 1 : end;
    lines.push({ line: firstLine + lines.length, bytes: bytes.subarray(start, last), end });
    start = end;
  }
  return lines;
}

function tooManyLines(): Problem {
  const detail = `must have at most ${mostLinesOfFile} lines`;
  return new Problem('invalid-request', `The file ${detail}.`, { errors: [{ pointer: '', detail }] });
}

/** Returns the index after the LF that ends the line, or after the last byte. */
function endOfLine(bytes: Buffer, start: number): number {
  const at = bytes.indexOf(lf, start);
  return at === -1 ? bytes.length : at + 1;
}
