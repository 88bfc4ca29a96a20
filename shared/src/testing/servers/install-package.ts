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
 * One process after the other: test files run side by side, and apt-get fails while another one reads the lists of
 * packages.
 * @throws Error where nothing can be installed, or not this
 */
export async function installPackage(name: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('needs root on Debian or Ubuntu');
  await access('/usr/bin/apt-get');
  // RUNLEVEL=1 keeps a package from starting a server of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('flock', [lock, 'sh', '-c', install, 'sh', name], { env, maxBuffer: 64 * 1024 * 1024 });
}
