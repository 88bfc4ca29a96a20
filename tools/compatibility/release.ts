// `npm run release -- VERSION`: prepares a release in the working tree. It dates the section in CHANGELOG.md, sets the version
// of the shop, of its client and of the images on Kubernetes, and keeps the contracts of this commit and the digests of its
// base images in released/.
// The commit and its tag are made by hand. The other workspaces are never published, and their versions stay.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gt, major, valid } from 'semver';
import { baseImages } from './base-images.ts';
import { unannounced, withRelease } from './changelog.ts';
import { breakingChanges, lastRelease, presentContracts, releasedContracts, writeRelease } from './contracts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = (command: string, ...parameters: string[]): string =>
  execFileSync(command, parameters, { cwd: root, encoding: 'utf8' }).trim();

/**
 * Replaces what follows the first group of each pattern.
 * @returns the changed text of the file
 * @throws Error when the file has nothing to replace, because its form has changed
 */
function replacedIn(name: string, patterns: readonly RegExp[], value: string): string {
  return patterns.reduce(
    (text, pattern) => {
      const replaced = text.replace(pattern, `$1${value}`);
      if (replaced === text) throw new Error(`${name} has no version where ${pattern} expects it.`);
      return replaced;
    },
    readFileSync(`${root}${name}`, 'utf8'),
  );
}

function prepare(version: string | undefined): void {
  const last = lastRelease().version;
  if (version === undefined || valid(version) !== version || !gt(version, last))
    throw new Error(`Name a version higher than ${last}: npm run release -- VERSION`);
  if (run('git', 'status', '--porcelain') !== '') throw new Error('Commit all changes first.');
  const changelog = readFileSync(`${root}CHANGELOG.md`, 'utf8');
  const contracts = presentContracts();
  const changes = breakingChanges(releasedContracts(), contracts);
  if (unannounced(changes, changelog, last).length > 0)
    throw new Error('`npm run check` lists changes that break clients.');
  if (changes.length > 0 && major(version) === major(last))
    throw new Error('Breaking changes need a new major version.');
  const release = { version, commit: run('git', 'rev-parse', 'HEAD'), baseImages: baseImages() };
  const own = /^( {2}"version": )".*"/m;
  const inLock = /("name": "(?:shop|@shop\/client)",\n +"version": )".*"/g;
  const manifest = 'deploy/kubernetes/base/kustomization.yaml';
  // Everything is computed before the first file is written, so that a refusal changes nothing.
  const texts = {
    'CHANGELOG.md': withRelease(changelog, version, new Date().toISOString().slice(0, 10)),
    'package.json': replacedIn('package.json', [own], `"${version}"`),
    'client/package.json': replacedIn('client/package.json', [own], `"${version}"`),
    'package-lock.json': replacedIn('package-lock.json', [own, inLock], `"${version}"`),
    [manifest]: replacedIn(manifest, [/(newTag: )[\w.-]+/g], version),
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(`${root}${name}`, text);
  writeRelease(release, contracts);
  console.log(`Next: git commit --all --message 'Release ${version}' && git tag v${version}`);
}

try {
  prepare(process.argv[2]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
