// Finds promtool: the one in the PATH, or the one from Debian's package, which root can install with apt-get.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installPackage } from '@shop/shared/testing';

const run = promisify(execFile);

/** Runs promtool and returns its output. Rejects with its error messages. */
export type Promtool = (...parameters: readonly string[]) => Promise<string>;

/** @throws Error with one line that names each attempt and the cause of its failure */
export async function findPromtool(): Promise<Promtool> {
  const reasons: string[] = [];
  for (const [way, find] of [
    ['promtool from the PATH', fromPath],
    ['prometheus installed with apt-get', install],
  ] as const) {
    try {
      return await find();
    } catch (error) {
      const [line] = (error instanceof Error ? error.message : String(error)).split('\n');
      reasons.push(`${way} (${line})`);
    }
  }
  throw new Error(`No promtool for the tests: install prometheus. Tried: ${reasons.join('; ')}`);
}

async function fromPath(): Promise<Promtool> {
  await run('promtool', ['--version']);
  return async (...parameters) => {
    try {
      const { stdout } = await run('promtool', [...parameters]);
      return stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`promtool ${parameters.join(' ')}:\n${stdout}${stderr}`, { cause: error });
    }
  };
}

async function install(): Promise<Promtool> {
  await installPackage('prometheus');
  return fromPath();
}
