// Imported before a program (`node --import`): appends the folder of each package to TRACE_FILE when its first module
// is loaded.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const file = process.env.TRACE_FILE;
const seen = new Set<string>();

registerHooks({
  load(url, context, next) {
    const start = url.indexOf('/node_modules/') + 1;
    const place = start === 0 ? undefined : findPlace(url.slice(start));
    if (place !== undefined && file !== undefined && !seen.has(place)) {
      seen.add(place);
      appendFileSync(file, `${place}\n`);
    }
    return next(url, context);
  },
});

/** Cuts a path in `node_modules` after the name of its innermost package. */
function findPlace(path: string): string {
  const parts = path.split('/');
  const name = parts.lastIndexOf('node_modules') + 1;
  return parts.slice(0, name + (parts[name]?.startsWith('@') ? 2 : 1)).join('/');
}
