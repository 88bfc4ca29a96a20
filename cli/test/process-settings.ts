// The variables that each process reads: their names by its own code, their defaults by .env.example.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { serviceNames } from '@shop/shared/shop';
import { readProcessSettings } from '@shop/shared/telemetry';
import { readEnvironment } from '../../gateway/src/config.ts';
import { readServiceDatabases, readSettings } from '../src/shop/settings.ts';

export type Read = (environment: Readonly<Record<string, string | undefined>>) => object;

/** Process → function that reads its environment. */
export const readers: Record<string, Read> = {
  shop: (environment) => ({ ...readSettings(environment), ...readServiceDatabases(environment) }),
  gateway: observed(readEnvironment),
};
for (const name of serviceNames) {
  const config = (await import(`../../services/${name}/src/config.ts`)) as { readEnvironment: Read };
  readers[name] = observed(config.readEnvironment);
}

function observed(read: Read): Read {
  return (environment) => readProcessSettings(environment, read);
}

/** A value for each variable without a default. */
export const required: Record<string, string> = {
  DATABASE_URL: 'postgres://someone:secret@localhost/shop',
  EVENTS_URL: 'postgres://events:secret@localhost/shop',
  JWKS_URL: 'http://localhost/.well-known/jwks.json',
  JWT_ISSUER: 'issuer',
  JWT_AUDIENCE: 'audience',
  INTERNAL_SECRET: 'x'.repeat(32),
  KEY_ENCRYPTION_SECRET: 'x'.repeat(32),
  CURSOR_KEYS: Buffer.alloc(32).toString('base64url'),
  WEBHOOK_KEYS: 'x'.repeat(32),
  ACCOUNTS_URL: 'http://localhost:1',
  ORDERS_URL: 'http://localhost:2',
  CATALOGUE_URL: 'http://localhost:3',
  NOTIFICATIONS_URL: 'http://localhost:5',
  CHANGES_URL: 'http://localhost:6',
  PORT: '4',
};

const example = readFileSync(fileURLToPath(new URL('../../.env.example', import.meta.url)), 'utf8');

/** Process → variable → default, from the sections of the file. */
export function documented(): Map<string, Map<string, string>> {
  const found = new Map(Object.keys(readers).map((name) => [name, new Map<string, string>()]));
  let processes: string[] = [];
  for (const line of example.split('\n')) {
    const heading = /^# --- ([a-z, ]+) -+$/.exec(line)?.[1];
    if (heading !== undefined) processes = groups[heading] ?? heading.split(', ');
    const [, name, value = ''] = /^#([A-Z_<>]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) for (const process of processes) found.get(process)?.set(name, value);
  }
  return found;
}

/** The names of the variables that a process reads, recorded by a proxy. */
export function namesRead(process: string, read: Read): string[] {
  const names = new Set<string>();
  const watched = new Proxy(required, {
    get(target, name: string) {
      names.add(name.replace(/_FILE$/, ''));
      return target[name];
    },
  });
  read(watched);
  names.delete('SECRETS_DIR');
  return [...new Set([...names].map((name) => generalized(process, name)))].sort();
}

/** The name of a variable that the shop and the gateway read once for each service. */
export function generalized(process: string, name: string): string {
  if (process !== 'shop' && process !== 'gateway') return name;
  const service = serviceNames.find((each) => name.startsWith(`${each.toUpperCase()}_`));
  return service === undefined ? name : name.replace(service.toUpperCase(), '<SERVICE>');
}

const takingRequests = serviceNames.filter(
  (name) => readers[name] && namesRead(name, readers[name]).includes('CONTRACT_WATCH'),
);

/** Heading → processes; other headings name the processes. */
const groups: Readonly<Record<string, string[]>> = {
  'every process': ['gateway', ...serviceNames],
  'every service': [...serviceNames],
  'every service that takes requests': takingRequests,
  'gateway and every service that takes requests': ['gateway', ...takingRequests],
};

/** The text of a section of .env.example. */
export function sectionOf(heading: string): string {
  const [, after = ''] = example.split(new RegExp(`^# --- ${heading} -+$`, 'm'));
  return after.split(/^# --- /m)[0] ?? '';
}
