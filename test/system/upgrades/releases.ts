// The last release and this checkout, each as a folder whose processes can be started.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastRelease } from '../../../tools/compatibility/contracts.ts';
import { copyCheckout } from '../../faults/outages/copy-checkout.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Migrations of the kinds that a release may contain, in the folders of their services. */
const expansions = fileURLToPath(new URL('expand/', import.meta.url));

/**
 * Takes the last release out of the history of a repository.
 * @returns its folder, without installed packages. It ends with a slash.
 * @throws Error that names the remedy when the repository lacks the commit of the release
 */
export function takePreviousRelease(repository = root): string {
  const { version, commit } = lastRelease();
  const git = (...parameters: string[]) =>
    execFileSync('git', ['-C', repository, ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch (cause) {
    throw new Error(
      `${repository} lacks commit ${commit} of release ${version}, with which the upgrade starts. ` +
        'In a clone without its history, run: git fetch --unshallow --tags',
      { cause },
    );
  }
  const folder = mkdtempSync(join(tmpdir(), `shop-${version}-`));
  try {
    const archive = join(folder, 'release.tar');
    git('archive', `--output=${archive}`, commit);
    execFileSync('tar', ['-xf', archive, '-C', folder]);
    rmSync(archive);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return `${folder}/`;
}

/** Installs the packages that the lock file of a release names, as its images have them. */
export function installPackages(tree: string): void {
  execFileSync('npm', ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * Copies this checkout, and adds the migrations of `expand/`, so that each run has some.
 * @returns the folder, which ends with a slash
 */
export function copyPresentRelease(): string {
  const tree = `${copyCheckout()}/`;
  for (const service of readdirSync(expansions))
    cpSync(join(expansions, service), join(tree, 'services', service, 'migrations'), { recursive: true });
  return tree;
}
