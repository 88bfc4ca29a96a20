// A copy of the checkout that can be changed and run without changing the checkout.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const left = ['node_modules', 'dist', '.data', '.git'];

/**
 * @param name the beginning of the folder's name
 * @returns the copy's folder. It has the same installed packages, but the workspaces among them are those of the copy.
 */
export function copyCheckout(name = 'shop-copy-'): string {
  const copy = mkdtempSync(join(tmpdir(), name));
  const packages: string[] = [];
  cpSync(root, copy, {
    recursive: true,
    filter(path) {
      if (basename(path) === 'node_modules') packages.push(relative(root, path));
      return !left.includes(basename(path));
    },
  });
  for (const folder of packages) {
    mkdirSync(join(copy, folder));
    for (const entry of readdirSync(join(root, folder))) {
      if (entry === '@shop')
        cpSync(join(root, folder, entry), join(copy, folder, entry), { recursive: true, verbatimSymlinks: true });
      else symlinkSync(join(root, folder, entry), join(copy, folder, entry));
    }
  }
  return copy;
}
