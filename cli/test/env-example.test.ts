// .env.example lists every variable that a process reads, below the processes that read it, with its default.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/runtime';
import { readProcessSettings } from '@shop/shared/telemetry';
import { readEnvironment } from '../../gateway/src/config.ts';
import { readCompose } from '../../test/deploy/compose.ts';
import { readServiceDatabases, readSettings } from '../src/shop/settings.ts';

type Read = (environment: Readonly<Record<string, string | undefined>>) => object;

const readers: Record<string, Read> = {
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
const required: Record<string, string> = {
  DATABASE_URL: 'postgres://someone:secret@localhost/shop',
  EVENTS_URL: 'postgres://events:secret@localhost/shop',
  JWKS_URL: 'http://localhost/.well-known/jwks.json',
  JWT_ISSUER: 'issuer',
  JWT_AUDIENCE: 'audience',
  INTERNAL_SECRET: 'x'.repeat(32),
  KEY_ENCRYPTION_SECRET: 'x'.repeat(32),
  CURSOR_KEYS: Buffer.alloc(32).toString('base64url'),
  ORDERS_URL: 'http://localhost:2',
  CATALOGUE_URL: 'http://localhost:3',
  NOTIFICATIONS_URL: 'http://localhost:5',
  PORT: '4',
};

/** Variables without a default, or whose default depends on the machine. */
const unwritten = new Set([
  'SHOP_DATA_DIR',
  'REDIS_URL',
  'GATEWAY_CONFIG_DIR',
  'HASH_CONCURRENCY',
  'SMTP_URL',
  'EMAIL_VERIFICATION_URL',
  'EMAIL_CHANGE_UNDO_URL',
  'PASSWORD_RESET_URL',
  'EMAIL_TEMPLATES_DIR',
  'DATABASE_READ_URL',
  'PRODUCT_ATTRIBUTES',
  'CORS_ORIGINS',
  'METRICS_PORT',
  'METRICS_URLS',
  'MAIL_PAGE_DIR',
  '<SERVICE>_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_SERVICE_NAME',
]);

const example = readFileSync(fileURLToPath(new URL('../../.env.example', import.meta.url)), 'utf8');

/** Process → variable → default, from the sections of the file. */
function documented(): Map<string, Map<string, string>> {
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
function namesRead(process: string, read: Read): string[] {
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
function generalized(process: string, name: string): string {
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

describe.each(Object.entries(readers))('the section of %s', (name, read) => {
  const variables = documented().get(name) ?? new Map<string, string>();

  it('lists what the process reads, and nothing else', () => {
    expect([...variables.keys()].sort()).toEqual(namesRead(name, read));
  });

  it('states the actual defaults', () => {
    const defaults = Object.fromEntries([...variables].filter(([, value]) => value !== ''));
    const withoutThem = Object.fromEntries(Object.entries(required).filter(([variable]) => !(variable in defaults)));
    // As JSON, because the texts of e-mails are read into functions.
    expect(JSON.stringify(read({ ...withoutThem, ...defaults }))).toBe(JSON.stringify(read(withoutThem)));
  });

  it('omits a default only for variables without a fixed default', () => {
    const left = [...variables].filter(([variable, value]) => value === '' && !unwritten.has(variable));
    for (const [variable] of name === 'shop' ? [] : left) {
      expect(() => read({ ...required, [variable]: '' })).toThrow(`${variable} is required`);
    }
  });
});

/** Variables that the images set, and variables that only `npm start` or another compose file needs. */
const notOffered = [
  'MAIL_PAGE_DIR',
  'HOST',
  'PORT',
  'GATEWAY_PORT',
  'GATEWAY_CONFIG_DIR',
  '<SERVICE>_URL',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_METRIC_EXPORT_INTERVAL',
  'OTEL_SERVICE_NAME',
  'OTEL_SDK_DISABLED',
];

describe('docker-compose.yml', () => {
  const { services } = readCompose();

  it.each(Object.keys(readers).filter((name) => name !== 'shop'))(
    'gives %s what it reads, and nothing else',
    (name) => {
      const given = Object.keys(services[name]?.environment ?? {}).map((variable) => variable.replace(/_FILE$/, ''));
      const known = [...(documented().get(name)?.keys() ?? [])];
      expect(given.sort()).toEqual(known.filter((variable) => !notOffered.includes(variable)).sort());
    },
  );

  it('passes on the variables that its section lists', () => {
    const section = sectionOf('docker compose');
    const listed = section.match(/\b[A-Z]+_[A-Z_]+\b|\b(?:BOARD|PAYMENTS)\b/g) ?? [];
    const taken = JSON.stringify(services).matchAll(/\$\{([A-Z_]+):-/g);
    expect([...new Set(listed)].sort()).toEqual([...new Set([...taken].map(([, variable]) => variable))].sort());
  });

  it('has the defaults of its section', () => {
    const written = [...sectionOf('docker compose').matchAll(/^#([A-Z_]+)=(.*)$/gm)];
    expect(written.length).toBeGreaterThan(0);
    for (const [, variable, value] of written) expect(JSON.stringify(services)).toContain(`\${${variable}:-${value}}`);
  });
});

describe('the section of setup', () => {
  const source = (name: string): string =>
    readFileSync(fileURLToPath(new URL(`../../deploy/setup/src/${name}.ts`, import.meta.url)), 'utf8');

  it('lists what deploy/setup reads', () => {
    const read = [...`${source('secrets')}${source('provision')}`.matchAll(/(?:string|url)\('([A-Z_]+)'/g)];
    const passwords = ['<SERVICE>_PASSWORD', 'EVENTS_PASSWORD'];
    const listed = [...sectionOf('setup').matchAll(/^#([A-Z_<>]+)=/gm)].map(([, variable]) => variable);
    expect(listed.sort()).toEqual([...read.map(([, variable]) => variable), ...passwords].sort());
  });
});

function sectionOf(heading: string): string {
  const [, after = ''] = example.split(new RegExp(`^# --- ${heading} -+$`, 'm'));
  return after.split(/^# --- /m)[0] ?? '';
}
