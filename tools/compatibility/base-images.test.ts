// What a release records of the images that its images are built from.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { baseImagesOf } from './base-images.ts';

const [id, digest] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`);

/** Reads the base images on a machine whose `docker` is this script. Without a script it has no `docker`. */
function onMachineWith(script: string | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'shop-base-images-'));
  try {
    if (script !== undefined) writeFileSync(join(folder, 'docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const module = JSON.stringify(new URL('base-images.ts', import.meta.url).href);
    const code = `console.log(JSON.stringify((await import(${module})).baseImages()))`;
    return spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
      encoding: 'utf8',
      env: { PATH: folder },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the base images', () => {
  it('the base images are those of a Dockerfile that are not its own stages', () => {
    const dockerfile =
      'FROM node:24 AS build\nRUN FROM\nFROM build\nFROM debian:12\nFROM node:24 AS more\nFROM scratch\n';
    expect(baseImagesOf(dockerfile)).toEqual(['node:24', 'debian:12']);
  });

  it('the base images are recorded with their digests', () => {
    const { stdout } = onMachineWith(`echo "${id} node@${digest}"`);
    expect(JSON.parse(stdout)).toEqual({ 'node:24-bookworm-slim': digest });
  });

  it('the base images are recorded with their ids when they come from no registry', () => {
    expect(JSON.parse(onMachineWith(`echo "${id}"`).stdout)).toEqual({ 'node:24-bookworm-slim': id });
  });

  it.each([
    ['an engine does not answer', 'exit 1'],
    ['docker is not installed', undefined],
  ])('the base images are rejected with the command that installs them when %s', (_reason, script) => {
    const { status, stderr } = onMachineWith(script);
    expect(status).toBe(1);
    expect(stderr).toContain('Run: docker pull node:24-bookworm-slim');
  });
});
