// Reads the report of the lines that an import refused.
import { readFile } from 'node:fs/promises';
import type { RefusedLine } from '../src/imports/imported-product.ts';

/** The entries of a report; undefined when the file does not exist. */
export async function readReport(path: string): Promise<RefusedLine[] | undefined> {
  const content = await readFile(path, 'utf8').catch(() => undefined);
  return content
    ?.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
