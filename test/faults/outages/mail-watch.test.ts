// A second copy of an e-mail is found, although it replaces the first.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { pause, seen } from './fault.ts';
import { watchMails } from './mail-watch.ts';

it('the watch of e-mails finds each e-mail that is written again, and not its removal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shop-mails-'));
  const mails = await watchMails(folder);
  /** Writes the file as notifications does. */
  const send = (name: string): void => {
    const partial = join(folder, `.${name}.1.partial`);
    writeFileSync(partial, 'text');
    renameSync(partial, join(folder, `${name}.eml`));
  };
  try {
    for (const name of ['once', 'twice', 'removed', 'twice']) send(name);
    const replaced: string[] = [];
    expect(await seen(() => replaced.push(...mails.replaced()) > 0)).toBe(true);
    rmSync(join(folder, 'removed.eml'));
    await pause(200);
    expect([...replaced, ...mails.replaced()]).toEqual(['twice.eml']);
  } finally {
    mails.close();
    rmSync(folder, { recursive: true });
  }
});
