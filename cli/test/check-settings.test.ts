// The settings of all processes are checked before a start, and by the doctor: the variables of each process, of its
// log and of telemetry.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plainEnvironment } from '@shop/shared/testing';
import { settingsMistakes } from '../src/shop/check-settings.ts';
import { runShop } from './started-shop.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const templates = join(root, 'services/notifications/templates');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-mistakes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the mistakes in the settings', () => {
  it.each([
    ['LOG_LEVEL', 'verbose'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['DRAIN_MS', 'long'],
  ])('a wrong %s is reported once for all processes', async (name, value) => {
    expect(await settingsMistakes({ [name]: value })).toEqual([
      expect.stringMatching(`^${name} must be .*, not "${value}" \\(every process\\)$`),
    ]);
  });

  it('each configuration error names the processes that read the variable', async () => {
    expect(await settingsMistakes({ SHOP_CURRENCY: 'euro', CONTRACT_WATCH: '2' })).toEqual([
      'CONTRACT_WATCH must be a share from 0 to 1, such as 0.01, not "2" (accounts, catalogue, changes, notifications, orders)',
      'SHOP_CURRENCY must be a currency code of ISO 4217 in capitals, such as EUR, not "euro" (catalogue, orders)',
    ]);
  });

  it.each([
    [{ TAXES: 'included' }, ['SHOP_COUNTRY is required when TAXES is included']],
    [
      { TAXES: 'added', SHOP_COUNTRY: 'UK' },
      ['SHOP_COUNTRY must be a country code of ISO 3166-1 in capitals, such as CH, not "UK"'],
    ],
    [{ TAXES: 'on' }, ['TAXES must be one of off, included, added, not "on"']],
    [
      { TAXES: 'included', HOLD_UNITS: 'ten' },
      [
        'HOLD_UNITS must be a whole number from 0 to 1000000, not "ten"',
        'SHOP_COUNTRY is required when TAXES is included',
      ],
    ],
    [{ TAXES: 'added', SHOP_COUNTRY: 'CH' }, []],
    [{ SHOP_COUNTRY: 'CH' }, []],
  ])('the settings of taxes are checked together with the others: %j', async (given, mistakes) => {
    expect(await settingsMistakes(given)).toEqual(mistakes.map((mistake) => `${mistake} (orders)`));
  });

  it('the check finds no configuration errors when no variable is set', async () => {
    expect(await settingsMistakes({})).toEqual([]);
  });
});

/** Mistakes over all processes, some of them in files. */
async function manyMistakes(): Promise<{ given: Record<string, string>; lines: string[] }> {
  const file = join(folder, 'hold-orders');
  await writeFile(file, 'ten\n');
  const none = join(folder, 'none');
  return {
    given: {
      GATEWAY_PORT: 'http',
      DATABASE_URL: 'mysql://root:hunter2@db/shop',
      LOG_LEVEL: 'verbose',
      OTEL_BSP_SCHEDULE_DELAY: '0',
      CORS_ORIGINS: 'https://shop.example/',
      GATEWAY_CONFIG_DIR: folder,
      HASH_QUEUE: 'many',
      KEY_ENCRYPTION_SECRET: 'too-short',
      HOLD_ORDERS_FILE: file,
      SHOP_CURRENCY: 'euro',
      PRODUCT_ATTRIBUTES: 'Colour',
      SMTP_URL_FILE: none,
      EMAIL_LANGUAGE: 'xx',
    },
    lines: [
      'GATEWAY_PORT must be a whole number from 1 to 65535, not "http" (shop)',
      'DATABASE_URL must be a URL that starts with postgres:// or postgresql://, not "mysql://…" (shop)',
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "verbose" (every process)',
      'CORS_ORIGINS must be *, or one or several origins like https://shop.example, separated by commas, ' +
        'not "https://shop.example/" (gateway)',
      `GATEWAY_CONFIG_DIR must be a folder with gateway.config.yml and system.config.yml, not "${folder}" (gateway)`,
      'OTEL_BSP_SCHEDULE_DELAY must be a whole number from 1 to 600000, not "0" (every process)',
      'KEY_ENCRYPTION_SECRET must have at least 32 characters (accounts)',
      'HASH_QUEUE must be a whole number from 0 to 100000, not "many" (accounts)',
      'SHOP_CURRENCY must be a currency code of ISO 4217 in capitals, such as EUR, not "euro" (catalogue, orders)',
      'PRODUCT_ATTRIBUTES must be names in camelCase, each with or without :number, not "Colour" (catalogue)',
      `SMTP_URL could not be read from the file ${none} (ENOENT) (notifications)`,
      `${templates} has no e-mails in the language of the shop (EMAIL_LANGUAGE), xx.yaml (notifications)`,
      `HOLD_ORDERS must be a whole number from 0 to 1000000, not "ten" (from the file ${file}) (orders)`,
    ],
  };
}

describe('npm start and npm run dev', () => {
  it.each([[[]], [['--watch']]])(
    'npm start and npm run dev list all configuration errors with %j and write no files',
    async (parameters) => {
      const { given, lines } = await manyMistakes();
      const dataDir = join(folder, 'data');
      const { status, stdout, stderr } = spawnSync(process.execPath, ['cli/src/start.ts', ...parameters], {
        cwd: root,
        env: { ...plainEnvironment(), SHOP_DATA_DIR: dataDir, ...given },
        encoding: 'utf8',
      });
      expect({ status, stdout, lines: stderr.trimEnd().split('\n') }).toEqual({
        status: 1,
        stdout: '',
        lines: [
          'Nothing was started. Correct these settings in the environment or in .env; .env.example describes them:',
          ...lines.map((line) => `  ${line}`),
        ],
      });
      expect(existsSync(dataDir)).toBe(false);
    },
  );
});

describe('the doctor', () => {
  it('the doctor reports each configuration error as a failed check, and the remedy once', async () => {
    const { given, lines } = await manyMistakes();
    const { code, output } = await runShop(join(folder, 'data'), given, 'doctor', '--json');
    const { findings } = JSON.parse(output) as { findings: { check: string; state: string; detail: string }[] };
    expect(code).toBe(1);
    expect(findings.filter(({ check }) => check === 'configuration').map(({ detail }) => detail)).toEqual(lines);
    const people = await runShop(join(folder, 'data'), given, 'doctor');
    expect(people.output.match(/^configuration: /gm)).toHaveLength(1);
  });
});

describe('a process that is started alone', () => {
  it('a process that is started alone lists the configuration errors of its own variables, of its log and of telemetry together', () => {
    const { status, stderr } = spawnSync(process.execPath, ['services/notifications/src/main.ts'], {
      cwd: root,
      env: {
        ...plainEnvironment(),
        LOG_LEVEL: 'verbose',
        PORT: 'x',
        MAIL_FROM: 'nobody',
        EMAIL_LANGUAGE: 'xx',
        METRICS_PORT: '0',
      },
      encoding: 'utf8',
    });
    expect({ status, lines: stderr.trimEnd().split('\n') }).toEqual({
      status: 1,
      lines: [
        'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "verbose"',
        'DATABASE_URL is required',
        'EVENTS_URL is required',
        'PORT must be a whole number from 0 to 65535, not "x"',
        'MAIL_FROM must be an e-mail address, such as orders@shop.example, not "nobody"',
        'JWKS_URL is required',
        'JWT_ISSUER is required',
        'JWT_AUDIENCE is required',
        'INTERNAL_SECRET is required',
        `${templates} has no e-mails in the language of the shop (EMAIL_LANGUAGE), xx.yaml`,
        'METRICS_PORT must be a whole number from 1 to 65535, not "0"',
      ].map((line) => `notifications: ${line}`),
    });
  });
});
