// The settings of all processes as JSON Schemas: one schema for each process, one member for each variable.
import type { Node } from '@shop/shared/contract';
import { ConfigError } from '@shop/shared/runtime';
import { documented, namesRead, type Read, readers, required, sectionOf } from '../../cli/test/process-settings.ts';

/** Process, or section of .env.example → schema of its environment. */
export function readSettings(): Record<string, Node> {
  const defaults = documented();
  const processes = Object.entries(readers).map(([process, read]) => {
    const known = defaults.get(process) ?? new Map<string, string>();
    const names = namesRead(process, read);
    const properties = names.map((name) => [name, { ...valuesOf(name, read), ...defaultOf(known.get(name)) }]);
    const needed = names.filter((name) => mistakeOf(name, '', read)?.includes('is required'));
    return [process, { type: 'object', required: needed, properties: Object.fromEntries(properties) }];
  });
  const deployed = ['docker compose', 'setup'].map((heading) => [
    heading,
    { type: 'object', properties: listedIn(heading) },
  ]);
  return Object.fromEntries([...processes, ...deployed]) as Record<string, Node>;
}

function defaultOf(text: string | undefined): Node {
  return text === undefined || text === '' ? {} : { default: text };
}

/** What a process says about a value; undefined when it accepts the value. */
function mistakeOf(name: string, value: string, read: Read): string | undefined {
  const variable = name.replace('<SERVICE>', 'ORDERS');
  try {
    read({ ...required, [variable]: value });
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.find((mistake) => mistake.startsWith(`${variable} `));
  }
}

/** The schema of the values that a variable accepts, from what the process says about a wrong value. */
function valuesOf(name: string, read: Read): Node {
  const mistake = mistakeOf(name, '\u0001', read) ?? '';
  const [, minimum, maximum] = /must be a whole number from (-?\d+) to (\d+)/.exec(mistake) ?? [];
  if (minimum !== undefined) return { type: 'integer', minimum: Number(minimum), maximum: Number(maximum) };
  if (mistake.includes('must be a share from 0 to 1')) return { type: 'number', minimum: 0, maximum: 1 };
  const [, length] = /must have at least (\d+) characters/.exec(mistake) ?? [];
  if (length !== undefined) return { type: 'string', minLength: Number(length) };
  const [, words] = /must be one of (.*), not/.exec(mistake) ?? [];
  if (words !== undefined) return { enum: words.split(', ') };
  const schemes = [...mistake.matchAll(/([a-z]+:\/\/)/g)].map(([, scheme]) => ({ pattern: `^${scheme}` }));
  return schemes.length > 0 ? { type: 'string', anyOf: schemes } : { type: 'string' };
}

/** The variables of a section that no process reads itself. */
function listedIn(heading: string): Record<string, Node> {
  const section = sectionOf(heading);
  const named = [...section.matchAll(/\b(?:[A-Z]+_[A-Z_]+|BOARD|PAYMENTS|TAXES)\b/g)].map(([name]) => [name, {}]);
  const written = [...section.matchAll(/^#([A-Z_<>]+)=(.*)$/gm)].map(([, name = '', value]) => [
    name,
    defaultOf(value),
  ]);
  return Object.fromEntries([...named, ...written]) as Record<string, Node>;
}
