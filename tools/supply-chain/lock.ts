// The packages of package-lock.json, and those that only one package needs.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  /** Set when the folder contains a package of another name. */
  readonly name?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface InstalledPackage {
  /** The path of its folder from the root of the repository, `node_modules/…`. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
}

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every entry of the lock file by its folder. */
export const lock = (
  JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as { packages: Readonly<Record<string, LockEntry>> }
).packages;

const inModules = 'node_modules/';
const lastName = (place: string): string => place.slice(place.lastIndexOf(inModules) + inModules.length);

/** The packages that `npm ci` may install. Each has the name of the package that its folder contains. */
export const installed: readonly InstalledPackage[] = Object.entries(lock).flatMap(([place, { version, name }]) =>
  place.includes(inModules) && version !== undefined ? [{ place, name: name ?? lastName(place), version }] : [],
);

/** The empty package that replaces unused packages of the engine. */
export const placeholder = 'empty-npm-package';

/**
 * The folders of the production packages that are installed only for the package in `place`, including that package.
 */
export function neededOnlyBy(place: string): readonly string[] {
  const workspaces = Object.keys(lock).filter((key) => key !== '' && !key.includes(inModules));
  const others = reachable(workspaces, place);
  return [...reachable(workspaces)].filter((key) => !others.has(key)).sort();
}

function reachable(from: readonly string[], without?: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...from];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const entry = lock[place];
    if (place === without || seen.has(place) || entry === undefined) continue;
    seen.add(place);
    const names = { ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies };
    open.push(...Object.keys(names).flatMap((name) => resolveFrom(place, name) ?? []));
  }
  return seen;
}

/** Finds a package as Node.js does: in the importing folder, then in each parent folder. */
function resolveFrom(place: string, name: string): string | undefined {
  for (let folder = place; ; folder = folder.slice(0, Math.max(folder.lastIndexOf(`/${inModules}`), 0))) {
    const found = `${folder === '' ? '' : `${folder}/`}${inModules}${name}`;
    const entry = lock[found];
    if (entry !== undefined) return entry.link === true ? entry.resolved : found;
    if (folder === '') return undefined;
  }
}
