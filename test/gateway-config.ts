// Copies of the gateway's configuration with other limits, for tests and benchmarks whose clients share one address.
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Copies the configuration with limits a million times as high. @returns the folder */
export function unlimitedConfig(folder: string): Promise<string> {
  const limits =
    /\b(steady|reserve|failuresPer\w+|attemptsPer\w+|conflictsPer\w+|forbiddenPer\w+|streamsPer\w+): (\d+)/g;
  return copyConfig(folder, (text) => text.replaceAll(limits, '$1: $2000000'));
}

/** Copies the configuration without a limit of registrations. @returns the folder */
export function configForRegistrations(folder: string): Promise<string> {
  return copyConfig(folder, (text) => text.replace(/(registerAccount:\n\s+rate: \{ steady: )/, '$11000000'));
}

async function copyConfig(folder: string, change: (text: string) => string): Promise<string> {
  await cp(join(root, 'gateway/config'), folder, { recursive: true });
  const file = join(folder, 'gateway.config.yml');
  const text = change(await readFile(file, 'utf8')).replaceAll(/\.\.\/\.\.\/(services|docs|web)\b/g, `${root}$1`);
  await writeFile(file, text);
  return folder;
}
