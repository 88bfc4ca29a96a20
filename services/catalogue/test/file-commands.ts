// Runs the processes that import and export products, on a database of a test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '@shop/shared/testing';
import type { RefusedLine } from '../src/imported-product.ts';

export interface Run {
  readonly code: number | null;
  readonly complaints: string;
  /** The last line that it wrote. */
  readonly last: Readonly<Record<string, unknown>>;
}

/** @param onLine called with the process for each line that it writes */
export async function runFileCommand(
  name: 'import-products' | 'export-products',
  databaseUrl: string,
  parameters: readonly string[],
  onLine: (child: ChildProcess) => void = () => {},
): Promise<Run> {
  const script = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  const env = { ...plainEnvironment(), DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [script, ...parameters], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const complaints = text(child.stderr);
  let last = {};
  for await (const line of createInterface({ input: child.stdout })) {
    last = JSON.parse(line);
    onLine(child);
  }
  const [code] = await ended;
  return { code, complaints: await complaints, last };
}

/** The entries of a report; undefined when there is no file. */
export async function readReport(path: string): Promise<RefusedLine[] | undefined> {
  const content = await readFile(path, 'utf8').catch(() => undefined);
  return content
    ?.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
