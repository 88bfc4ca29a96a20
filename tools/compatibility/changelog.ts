// The rule of CONTRIBUTING.md: a breaking change needs a new major version, whose section in CHANGELOG.md names it.
import { major } from 'semver';
import type { BreakingChange } from './breaking-change.ts';

/**
 * Returns the changes that the changelog does not announce. The newest section must be that of a higher major version than
 * the released one, and the list below its heading "### Breaking" must have the subject of each change in backquotes.
 */
export function unannounced(changes: readonly BreakingChange[], changelog: string, released: string): BreakingChange[] {
  const [, version = '', section = ''] = /^## \[(.*?)\][^\n]*\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? [];
  const [, breaking = ''] = /^### Breaking\n([\s\S]*?)(?=^### |(?![\s\S]))/m.exec(section) ?? [];
  const isMajor = /^\d+\.\d+\.\d+$/.test(version) && major(version) > major(released);
  return changes.filter(({ subject }) => !isMajor || !breaking.includes(`\`${subject}\``));
}

/** The changelog in which the newest section is that of a release, below a new section for what follows. */
export function withRelease(changelog: string, version: string, date: string): string {
  const heading = new RegExp(`^## \\[(?:Unreleased|${version.replaceAll('.', '\\.')})\\]$`, 'm');
  if (heading.exec(changelog)?.index !== changelog.search(/^## /m))
    throw new Error(`The newest section of CHANGELOG.md is neither [Unreleased] nor [${version}].`);
  return changelog.replace(heading, `## [Unreleased]\n\n## [${version}] - ${date}`);
}
