// Reads one line of a file of JSON lines.
import { maxBodyBytes } from '@shop/shared/contract';
import { parseBody } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';

/** One product of a file, with the faults that were found while it was read. */
export interface ProductLine {
  /** The first line of the product, counted from 1. */
  readonly line: number;
  /** Absent when the line could not be read at all. */
  readonly value?: unknown;
  readonly faults?: readonly Fault[];
  /** The members that no line of the file has. They stay unchanged for a known product. */
  readonly lacking?: readonly string[];
}

/** Returns undefined for a blank line. */
export function readJsonLine(line: number, bytes: Buffer): ProductLine | undefined {
  if (bytes.length > maxBodyBytes) {
    return { line, faults: [{ pointer: '', detail: `must have at most ${maxBodyBytes} bytes` }] };
  }
  return isBlank(bytes) ? undefined : readJson(line, bytes);
}

export function readJson(line: number, bytes: Buffer): ProductLine {
  try {
    const { value, faults } = parseBody(bytes);
    return faults.length > 0 ? { line, value, faults } : { line, value };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { line, faults: error.errors };
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 32 || byte === 13 || byte === 9);
}
