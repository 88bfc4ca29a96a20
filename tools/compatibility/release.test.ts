// `npm run release` in a copy of this checkout that is a repository of its own.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { copyCheckout } from '../../test/faults/outages/copy-checkout.ts';

const digest = `sha256:${'a'.repeat(64)}`;
/** The version that the changelog announces, if it announces one. */
const [, announced = ''] =
  /^## \[(.*?)\]/m.exec(readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')) ?? [];
const version = announced === 'Unreleased' ? '99.0.0' : announced;
let copy: string;
let head: string;

beforeAll(() => {
  copy = copyCheckout();
  mkdirSync(join(copy, '.data'));
  // The machine has all images that it is asked for.
  const docker = `#!/bin/sh\necho "sha256:${'b'.repeat(64)} image@${digest}"\n`;
  writeFileSync(join(copy, '.data/docker'), docker, { mode: 0o755 });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=release', '-c', 'user.email=release@example.com', 'commit', '--quiet', '--message', 'All');
  head = git('rev-parse', 'HEAD');
});
afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

function git(...parameters: string[]): string {
  return execFileSync('git', parameters, { cwd: copy, encoding: 'utf8' }).trim();
}

function node(...parameters: string[]) {
  const env = { ...process.env, PATH: `${join(copy, '.data')}:${process.env.PATH}` };
  return spawnSync(process.execPath, parameters, { cwd: copy, encoding: 'utf8', env });
}

const release = (...parameters: string[]) => node('tools/compatibility/release.ts', ...parameters);
const read = (name: string): string => readFileSync(join(copy, name), 'utf8');

it.each([
  ['no version', [], 'Name a version higher than'],
  ['a version that is no higher', ['1.1.0'], 'Name a version higher than'],
  ['no version of three numbers', ['99'], 'Name a version higher than'],
])('a release is rejected with %s, and changes nothing', (_title, parameters, message) => {
  expect(release(...parameters)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  expect(git('status', '--porcelain')).toBe('');
});

it('a release is rejected while a change is not committed', () => {
  appendFileSync(join(copy, 'README.md'), '\n');
  expect(release(version)).toMatchObject({ status: 1, stderr: 'Commit all changes first.\n' });
  git('checkout', '--quiet', 'README.md');
});

it('a release is rejected, with the name of the file, when a file has no version where it is expected', () => {
  const name = 'deploy/kubernetes/base/kustomization.yaml';
  writeFileSync(join(copy, name), read(name).replaceAll('newTag', 'tag'));
  git(
    '-c',
    'user.name=release',
    '-c',
    'user.email=release@example.com',
    'commit',
    '--quiet',
    '--all',
    '--message',
    'x',
  );
  expect(release(version)).toMatchObject({ status: 1, stderr: expect.stringContaining(name) });
  expect(git('status', '--porcelain')).toBe('');
  git('reset', '--quiet', '--hard', head);
});

it('a release sets all versions, dates the changelog, records commit and base images, and passes the comparison', () => {
  expect(release(version)).toMatchObject({ status: 0, stdout: expect.stringContaining(`git tag v${version}`) });
  expect(JSON.parse(read('tools/compatibility/released/release.json'))).toEqual({
    version,
    commit: head,
    baseImages: { 'node:24-bookworm-slim': digest },
  });
  const lock = JSON.parse(read('package-lock.json'));
  const versions = [JSON.parse(read('package.json')), JSON.parse(read('client/package.json')), lock];
  versions.push(lock.packages[''], lock.packages.client);
  expect(versions.map((each) => each.version)).toEqual(versions.map(() => version));
  const tags = read('deploy/kubernetes/base/kustomization.yaml').match(/newTag: \S+(?= })/g);
  expect(new Set(tags)).toEqual(new Set([`newTag: ${version}`]));
  expect(read('CHANGELOG.md')).toMatch(
    new RegExp(`^## \\[Unreleased\\]\n\n## \\[${version}\\] - \\d{4}-\\d\\d-\\d\\d\n`, 'm'),
  );
  expect(node('tools/compatibility/check.ts')).toMatchObject({ status: 0, stderr: '' });
});
