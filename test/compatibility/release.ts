// `npm run release -- VERSION`: prepares a release in the working tree. It dates the section in CHANGELOG.md, sets the version
// of all packages, and keeps the contracts of this commit in released/. The commit and its tag are made by hand.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gt, major, valid } from 'semver';
import { unannounced, withRelease } from './changelog.ts';
import { breakingChanges, lastRelease, presentContracts, releasedContracts, writeRelease } from './contracts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = (command: string, ...parameters: string[]): string =>
  execFileSync(command, parameters, { cwd: root, encoding: 'utf8' }).trim();

function prepare(version: string | undefined): void {
  const last = lastRelease().version;
  if (version === undefined || valid(version) !== version || !gt(version, last))
    throw new Error(`Name a version higher than ${last}: npm run release -- VERSION`);
  if (run('git', 'status', '--porcelain') !== '') throw new Error('Commit all changes first.');
  const file = `${root}CHANGELOG.md`;
  const changelog = readFileSync(file, 'utf8');
  const contracts = presentContracts();
  const changes = breakingChanges(releasedContracts(), contracts);
  if (unannounced(changes, changelog, last).length > 0)
    throw new Error('`npm run check` lists changes that break clients.');
  if (changes.length > 0 && major(version) === major(last))
    throw new Error('Breaking changes need a new major version.');
  writeFileSync(file, withRelease(changelog, version, new Date().toISOString().slice(0, 10)));
  run('npm', 'version', version, '--workspaces', '--include-workspace-root', '--no-git-tag-version');
  writeRelease({ version, commit: run('git', 'rev-parse', 'HEAD') }, contracts);
  console.log(`Next: git commit --all --message 'Release ${version}' && git tag v${version}`);
}

try {
  prepare(process.argv[2]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
