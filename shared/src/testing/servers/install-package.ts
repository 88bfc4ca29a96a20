// Installs a program that a test needs from the packages of Debian or Ubuntu.
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const lock = join(tmpdir(), 'shop-tests-apt.lock');
const install = 'apt-get update -q && apt-get install -qy --no-install-recommends "$1"';

/**
 * Installs a package. Only one process does so at a time, because test files run concurrently, and apt-get fails while
 * another process reads the lists of packages.
 * @throws Error when packages, or this one, cannot be installed
 */
export async function installPackage(name: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('needs root on Debian or Ubuntu');
  await access('/usr/bin/apt-get');
  // RUNLEVEL=1 prevents a package from starting its server.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('flock', [lock, 'sh', '-c', install, 'sh', name], { env, maxBuffer: 64 * 1024 * 1024 });
}
