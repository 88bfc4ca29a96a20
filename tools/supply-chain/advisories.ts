// The list of advisories: the entries for given versions, and its maximum age.
import { readFileSync } from 'node:fs';
import { satisfies } from 'semver';
import { parse } from 'yaml';

export interface Advisory {
  readonly package: string;
  /** A semver range of the versions that the advisory warns of. */
  readonly versions: string;
  readonly advisory: string;
  readonly about: string;
  /** A key of `sources` in the list. */
  readonly source: string;
  /** The reason why the fault cannot be reached in this repository. */
  readonly accepted?: string;
}

interface AdvisoryList {
  /** The day on which the sources were last read, as YYYY-MM-DD. */
  readonly date: string;
  readonly sources: Readonly<Record<string, string>>;
  readonly advisories: readonly Advisory[];
}

export interface Warning {
  readonly package: string;
  readonly advisory: string;
  readonly accepted?: string | undefined;
}

export const list = parse(readFileSync(new URL('advisories.yaml', import.meta.url), 'utf8')) as AdvisoryList;

/** The advisories of the list that warn of the given versions. */
export function warningsFor(packages: readonly { name: string; version: string }[]): readonly Warning[] {
  return packages.flatMap(({ name, version }) =>
    list.advisories
      .filter((entry) => entry.package === name && satisfies(version, entry.versions, { includePrerelease: true }))
      .map(({ advisory, accepted }) => ({ package: `${name}@${version}`, advisory, accepted })),
  );
}

/** Days after which a release needs a newer list. */
export const maximumAge = 90;

/**
 * The reason why a list of the given date is too old for a release on the given day; undefined when it is not.
 * @throws RangeError when the date is invalid or after the given day
 */
export function tooOld(date: string, today: Date): string | undefined {
  const days = Math.floor((today.getTime() - Date.parse(`${date}T00:00:00Z`)) / 86_400_000);
  if (Number.isNaN(days)) throw new RangeError(`the list's date is not a date: ${date}`);
  if (days < 0) throw new RangeError(`the list's date is in the future: ${date}`);
  if (days <= maximumAge) return undefined;
  return (
    `the list of advisories is ${days} days old, a release needs one of at most ${maximumAge}: ` +
    'bring it up to date as tools/supply-chain/README.md says'
  );
}
