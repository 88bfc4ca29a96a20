// Chromium for the browser tests: the installed one, or one that this file installs if possible.
import { access } from 'node:fs/promises';
import { installPackage } from '@shop/shared/testing';
import { type Browser, chromium } from 'playwright-core';

const usual = '/usr/bin/chromium';

/** @throws Error with one line that states how to install Chromium */
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
  try {
    await installPackage('chromium');
    return usual;
  } catch (cause) {
    const ways = 'apt-get install chromium, or name one in CHROMIUM_PATH';
    throw new Error(`No Chromium for the browser tests: ${ways}.`, { cause });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path, 1).then(
    () => true,
    () => false,
  );
}
