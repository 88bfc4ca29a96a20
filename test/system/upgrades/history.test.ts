// A clone without its history cannot provide the last release. The upgrade then fails, and its message names the
// remedy.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lastRelease } from '../../../tools/compatibility/contracts.ts';
import { takePreviousRelease } from './releases.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const remedy = /lacks commit [0-9a-f]{40} of release .* run: git fetch --unshallow --tags$/;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shop-history-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the previous release', () => {
  it('the previous release is the tree of the commit that released/ names', () => {
    const tree = takePreviousRelease();
    try {
      expect(existsSync(`${tree}services/orders/src/main.ts`)).toBe(true);
      expect(lastRelease().commit).toMatch(/^[0-9a-f]{40}$/);
    } finally {
      rmSync(tree, { recursive: true });
    }
  });

  it('the previous release is rejected in a clone without history', () => {
    const clone = join(folder, 'clone');
    execFileSync('git', ['clone', '--quiet', '--depth', '1', pathToFileURL(root).href, clone]);
    expect(() => takePreviousRelease(clone)).toThrow(remedy);
  });

  it('the previous release is rejected in a folder without a repository', () => {
    expect(() => takePreviousRelease(folder)).toThrow(remedy);
  });
});
