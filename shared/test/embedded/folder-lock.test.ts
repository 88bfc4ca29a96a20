// The lock of a folder: only one living process can hold it, and only one of several processes takes over the lock of a
// dead one.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockFolder, processIdentity } from '../../src/embedded/index.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-lock-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('the lock of a folder', () => {
  it('one process at a time holds the lock of a folder', async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${process.pid}`);
    await lock.release();
    await (await lockFolder(folder)).release();
  });

  it('the lock of a folder leaves no files after its release', async () => {
    await (await lockFolder(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('the lock of a process that has exited is taken over, with a message', async () => {
    await writeFile(join(folder, 'lock'), '4000000 1 nowhere');
    const lock = await lockFolder(folder);
    expect(lock.previousOwner).toBe('4000000 1 nowhere');
    await lock.release();
  });

  it('the lock of a dead process is taken over although another process has its id', async () => {
    await writeFile(join(folder, 'lock'), `${process.pid} 1 at another time`);
    await (await lockFolder(folder)).release();
  });

  it('a lock with an incomplete file is replaced', async () => {
    await writeFile(join(folder, 'lock'), '');
    await (await lockFolder(folder)).release();
  });
});

describe('the identity of a process', () => {
  it('the identity of a process stays the same while it runs', async () => {
    const identity = await processIdentity(process.pid);
    expect(identity).toMatch(new RegExp(`^${process.pid} `));
    expect(await processIdentity(process.pid)).toBe(identity);
  });

  it('a process that does not exist has no identity', async () => {
    expect(await processIdentity(4_000_000)).toBeUndefined();
  });
});
