// Fails when the contracts break someone who relies on the last release and CHANGELOG.md does not announce it; run by
// `npm run check`. CONTRIBUTING.md has the rules.
import { readFileSync } from 'node:fs';
import { unannounced } from './changelog.ts';
import { breakingChanges, lastRelease, presentContracts, releasedContracts } from './contracts.ts';

const { version } = lastRelease();
const changes = breakingChanges(releasedContracts(), presentContracts());
const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
const open = unannounced(changes, changelog, version);
for (const { subject, text } of open) console.error(`${text} [${subject}]`);
if (open.length > 0) {
  console.error(
    `${open.length} changes break clients of ${version}. Take them back, or announce them in CHANGELOG.md: rename the newest ` +
      'section to the next major version, and list the names in brackets below "### Breaking", each in backquotes.',
  );
  process.exitCode = 1;
} else {
  console.log(
    `all contracts are compatible with ${version}${changes.length > 0 ? `, except ${changes.length} announced changes` : ''}`,
  );
}
