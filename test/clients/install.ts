// Installs the packed client in an empty project, and the runtimes and generators of package.json, for these tests.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lockFolder } from '@shop/shared/embedded';
import { eventually, plainEnvironment } from '@shop/shared/testing';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/** Milliseconds within which another process has installed the tools. */
const installedWithin = 300_000;

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

/** Returns the path of an installed tool. */
export const tool = (...path: readonly string[]): string => join(here, 'node_modules', ...path);

/**
 * Installs the tools of the lock file in this folder, unless they are installed already. Only one process does so at a
 * time, because test files run concurrently.
 */
export async function installTools(): Promise<void> {
  const folderLock = await eventually(() => lockFolder(here), installedWithin);
  try {
    const lock = await readFile(join(here, 'package-lock.json'), 'utf8');
    const mark = tool('.installed');
    if (existsSync(mark) && (await readFile(mark, 'utf8')) === lock) return;
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here });
    await writeFile(mark, lock);
  } finally {
    await folderLock.release();
  }
}

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
