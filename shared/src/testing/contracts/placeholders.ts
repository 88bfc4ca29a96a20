// Placeholders in recordings: `<name>` replaces a value that differs from run to run, such as an id or a time.
import { isNode } from '../../contract/index.ts';
import { newId } from '../../runtime/index.ts';

/** The values of placeholders, by name. */
export type Values = Map<string, string>;

const placeholder = /<([A-Za-z]+)>/g;

/**
 * Returns the recorded value with the value of each placeholder. A placeholder without a value gets one, which is added
 * to `values`: the present time when its name ends in `At`, and otherwise a new id.
 */
export function fillIn(recorded: unknown, values: Values): unknown {
  if (typeof recorded === 'string')
    return recorded.replace(placeholder, (_, name: string) => {
      const text = values.get(name) ?? (name.endsWith('At') ? new Date().toISOString() : newId());
      values.set(name, text);
      return text;
    });
  if (Array.isArray(recorded)) return recorded.map((item) => fillIn(item, values));
  if (!isNode(recorded)) return recorded;
  return Object.fromEntries(Object.entries(recorded).map(([name, value]) => [name, fillIn(value, values)]));
}

/**
 * Returns the differences between a value and the recorded one, one line for each location; empty when it contains
 * everything that is recorded. Placeholders without a value get the actual one, which is added to `values`.
 * @param extent `whole` when further members and items are differences, too
 */
export function differences(recorded: unknown, actual: unknown, values: Values, extent: 'part' | 'whole'): string[] {
  const compare = (wanted: unknown, found: unknown, at: string): string[] => {
    if (Array.isArray(wanted) && Array.isArray(found)) {
      const further = extent === 'whole' && found.length > wanted.length ? [`${at}: has further items`] : [];
      return [...wanted.flatMap((item, index) => compare(item, found[index], `${at}/${index}`)), ...further];
    }
    if (isNode(wanted) && isNode(found)) {
      const further = Object.keys(found).filter((name) => extent === 'whole' && !Object.hasOwn(wanted, name));
      return [
        ...Object.keys(wanted).flatMap((name) => compare(wanted[name], found[name], `${at}/${name}`)),
        ...further.map((name) => `${at}/${name}: is not recorded`),
      ];
    }
    if (wanted === found || (typeof wanted === 'string' && typeof found === 'string' && fits(wanted, found, values)))
      return [];
    return [`${at}: is ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`];
  };
  return compare(recorded, actual, '');
}

/**
 * Returns whether a string matches the recorded one. Each placeholder without a value gets the string at its position.
 */
function fits(recorded: string, actual: string, values: Values): boolean {
  // In a path, a placeholder is at most one segment or one value of the query.
  const any = recorded.startsWith('/') ? '[^/?&]+' : '.+';
  const seen = new Set<string>();
  const parts = recorded.split(placeholder).map((part, index) => {
    if (index % 2 === 0) return escapeText(part);
    const text = values.get(part);
    if (text !== undefined) return escapeText(text);
    if (seen.has(part)) return `\\k<${part}>`;
    seen.add(part);
    return `(?<${part}>${any})`;
  });
  const found = new RegExp(`^${parts.join('')}$`, 's').exec(actual);
  for (const [name, text] of Object.entries(found?.groups ?? {})) values.set(name, text);
  return found !== null;
}

const escapeText = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
