// .env.example lists every variable that a process reads, below the processes that read it, with its default.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { readCompose } from '../../tools/deploy/compose.ts';
import { documented, namesRead, readers, required, sectionOf } from './process-settings.ts';

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
  'SHOP_COUNTRY',
  'SELLER_NAME',
  'SELLER_ADDRESS',
  'SELLER_TAX_ID',
  'WEBHOOKS_ALLOW',
  'INVOICE_PREFIX',
  'CORS_ORIGINS',
  'METRICS_PORT',
  'METRICS_URLS',
  'MAIL_PAGE_DIR',
  'MAIL_PAGE_KEY',
  '<SERVICE>_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_SERVICE_NAME',
]);

describe.each(Object.entries(readers))('the section of %s', (name, read) => {
  const variables = documented().get(name) ?? new Map<string, string>();

  it('the section of each process lists what the process reads, and nothing else', () => {
    expect([...variables.keys()].sort()).toEqual(namesRead(name, read));
  });

  it('the section of each process states the actual defaults', () => {
    const defaults = Object.fromEntries([...variables].filter(([, value]) => value !== ''));
    const withoutThem = Object.fromEntries(Object.entries(required).filter(([variable]) => !(variable in defaults)));
    // As JSON, because the texts of e-mails are read into functions.
    expect(JSON.stringify(read({ ...withoutThem, ...defaults }))).toBe(JSON.stringify(read(withoutThem)));
  });

  it('the section of each process omits a default only for variables without a fixed default', () => {
    const left = [...variables].filter(([variable, value]) => value === '' && !unwritten.has(variable));
    for (const [variable] of name === 'shop' ? [] : left) {
      expect(() => read({ ...required, [variable]: '' })).toThrow(`${variable} is required`);
    }
  });
});

/** Variables that the images set, and variables that only `npm start` or another compose file needs. */
const notOffered = [
  // Images do not contain it.
  'STOREFRONT',
  'MAIL_PAGE_DIR',
  'MAIL_PAGE_KEY',
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
    'docker-compose.yml passes to %s exactly the variables that it reads',
    (name) => {
      const given = Object.keys(services[name]?.environment ?? {}).map((variable) => variable.replace(/_FILE$/, ''));
      const known = [...(documented().get(name)?.keys() ?? [])];
      expect(given.sort()).toEqual(known.filter((variable) => !notOffered.includes(variable)).sort());
    },
  );

  it('docker-compose.yml passes on the variables that its section lists', () => {
    const section = sectionOf('docker compose');
    const listed = section.match(/\b[A-Z]+_[A-Z_]+\b|\b(?:BOARD|PAYMENTS|TAXES)\b/g) ?? [];
    const taken = JSON.stringify(services).matchAll(/\$\{([A-Z_]+):-/g);
    expect([...new Set(listed)].sort()).toEqual([...new Set([...taken].map(([, variable]) => variable))].sort());
  });

  it('docker-compose.yml has the defaults of its section', () => {
    const written = [...sectionOf('docker compose').matchAll(/^#([A-Z_]+)=(.*)$/gm)];
    expect(written.length).toBeGreaterThan(0);
    for (const [, variable, value] of written) expect(JSON.stringify(services)).toContain(`\${${variable}:-${value}}`);
  });
});

describe('the section of setup', () => {
  const source = (name: string): string =>
    readFileSync(fileURLToPath(new URL(`../../deploy/setup/src/${name}.ts`, import.meta.url)), 'utf8');

  it('the section of setup lists what deploy/setup reads', () => {
    const read = [...`${source('secrets')}${source('provision')}`.matchAll(/(?:string|url)\('([A-Z_]+)'/g)];
    const passwords = ['<SERVICE>_PASSWORD', 'EVENTS_PASSWORD'];
    const listed = [...sectionOf('setup').matchAll(/^#([A-Z_<>]+)=/gm)].map(([, variable]) => variable);
    expect(listed.sort()).toEqual([...read.map(([, variable]) => variable), ...passwords].sort());
  });
});
