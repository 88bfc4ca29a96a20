// Runs an import in a process of its own, so that a test can kill it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '@shop/shared/testing';

const program = (path: string, refused: string): string => `
  const { importProducts } = await import(${JSON.stringify(import.meta.resolve('../src/operator/index.ts'))});
  const onProgress = () => process.stdout.write('a batch\\n');
  await importProducts(process.env, ${JSON.stringify({ path, refused }).slice(0, -1)}, onProgress });`;

/**
 * Starts the import of a file, and kills its process after the first batch.
 * @returns the signal that ended the process
 */
export async function killImport(databaseUrl: string, path: string, refused: string): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(path, refused)], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...plainEnvironment(), DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  child.stdout.once('data', () => child.kill('SIGKILL'));
  const [, signal] = await ended;
  return signal;
}
