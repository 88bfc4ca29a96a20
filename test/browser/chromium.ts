// A real Chromium for the browser tests: the one of the machine, or installed where that can be done.
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const run = promisify(execFile);
const usual = '/usr/bin/chromium';

/** @throws Error with one line that says how to get a Chromium */
export async function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

async function findChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && given !== '') return given;
  if (await exists(usual)) return usual;
  if (process.getuid?.() === 0 && (await exists('/usr/bin/apt-get'))) {
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 };
    await run('apt-get', ['update', '-q'], options);
    await run('apt-get', ['install', '-qy', '--no-install-recommends', 'chromium'], options);
    if (await exists(usual)) return usual;
  }
  throw new Error('No Chromium for the browser tests: apt-get install chromium, or name one in CHROMIUM_PATH.');
}

async function exists(path: string): Promise<boolean> {
  return access(path, 1).then(
    () => true,
    () => false,
  );
}
