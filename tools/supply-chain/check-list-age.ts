// Warns when the list of advisories is too old for a release; with `--release` it fails then. Run by `npm run check`.
import { list, tooOld } from './advisories.ts';

const release = process.argv.includes('--release');
const reason = tooOld(list.date, new Date());
if (reason !== undefined) console.error(`${release ? 'refused' : 'warning'}: ${reason}`);
process.exitCode = release && reason !== undefined ? 1 : 0;
