// Installs the packed client in an empty project, and the runtimes and generators of package.json, for these tests.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { plainEnvironment } from '@shop/shared/testing';
import { toolsOf } from '../../install-tools.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Runs a program in a folder.
 * @throws Error with its whole output when it fails
 */
export async function runIn(
  folder: string,
  program: string,
  ...parameters: readonly string[]
): Promise<{ stdout: string; stderr: string }> {
  const options = { cwd: folder, env: plainEnvironment(), maxBuffer: 1 << 26 };
  return run(program, [...parameters], options).catch(({ message, stdout }: { message: string; stdout: string }) => {
    throw new Error(`${message}${stdout}`);
  });
}

export const { install: installTools, path: tool } = toolsOf(new URL('.', import.meta.url));

/**
 * Packs the client, and installs the package in a new project.
 * @returns the folder of the installed package
 */
export async function installClient(project: string): Promise<string> {
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  const pack = ['pack', '--workspace', '@shop/client', '--pack-destination', project, '--json'];
  const { stdout } = await run('npm', pack, { cwd: root });
  const [{ filename = '' } = {}] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { filename?: string }[];
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: project });
  return join(project, 'node_modules/@shop/client');
}
