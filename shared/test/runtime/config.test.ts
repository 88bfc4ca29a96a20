// Reading the environment: typed values, files, and one report of all mistakes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConfigError,
  type Environment,
  integer,
  isSet,
  keyList,
  oneOf,
  optional,
  readConfig,
  readTogether,
  StartError,
  secret,
  secretList,
  string,
  url,
} from '@shop/shared/runtime';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shop-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const variables = {
  port: integer('PORT', { min: 0, max: 65_535, fallback: 8080 }),
  host: string('HOST', '127.0.0.1'),
  database: url('DATABASE_URL', ['postgres', 'postgresql']),
  currency: oneOf('SHOP_CURRENCY', ['EUR', 'JPY'], 'EUR'),
  smtp: optional(url('SMTP_URL', ['smtp', 'smtps'])),
  secret: secret('INTERNAL_SECRET'),
  keys: keyList('CURSOR_KEYS'),
};
const good = {
  DATABASE_URL: 'postgres://orders:pw@db/shop',
  INTERNAL_SECRET: 's'.repeat(32),
  CURSOR_KEYS: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) => key.toString('base64url')).join(','),
};

describe('readConfig', () => {
  it('readConfig returns typed values and defaults, frozen', () => {
    const config = readConfig({ ...good, PORT: '0' }, variables);
    expect(config).toMatchObject({ port: 0, host: '127.0.0.1', currency: 'EUR', smtp: undefined });
    expect(config.keys.map((key) => key[0])).toEqual([1, 2]);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('readConfig reads a value from the file that NAME_FILE names', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, `${'f'.repeat(40)}\n`);
    expect(readConfig({ ...good, INTERNAL_SECRET: '', INTERNAL_SECRET_FILE: file }, variables).secret).toBe(
      'f'.repeat(40),
    );
  });

  it('readConfig reads a value from the folder SECRETS_DIR when neither NAME nor NAME_FILE is set', () => {
    writeFileSync(join(folder, 'internal-secret'), `${'d'.repeat(40)}\n`);
    const { INTERNAL_SECRET: _unset, ...others } = good;
    const environment = { ...others, SECRETS_DIR: folder };
    expect(readConfig(environment, variables).secret).toBe('d'.repeat(40));
    const named = { ...environment, INTERNAL_SECRET: 'n'.repeat(40) };
    expect(readConfig(named, variables).secret).toBe('n'.repeat(40));
    expect([isSet(environment, 'INTERNAL_SECRET'), isSet(environment, 'CURSOR_KEYS_OF_NOBODY')]).toEqual([true, false]);
  });

  it('readConfig reads several secrets, of which each has enough characters', () => {
    const read = (text: string) => readConfig({ SECRET: text }, { secrets: secretList('SECRET') }).secrets;
    const [one, other] = ['a'.repeat(32), 'b'.repeat(40)];
    expect(read(one)).toEqual([one]);
    expect(read(`${one}, ${other}`)).toEqual([one, other]);
    for (const wrong of [`${one},`, `${one},short`, `short,${one}`])
      expect(() => read(wrong)).toThrow(new ConfigError(['SECRET must have at least 32 characters']));
  });

  it('readConfig reports all configuration errors together and repeats no secret', () => {
    const wrong = {
      PORT: '8o80',
      DATABASE_URL: 'mysql://root:hunter2@db',
      SHOP_CURRENCY: 'XXX',
      INTERNAL_SECRET: 'short',
      CURSOR_KEYS_FILE: join(folder, 'none'),
    };
    const mistakes = () => readConfig(wrong, variables);
    expect(mistakes).toThrow(ConfigError);
    expect(mistakes).toThrow(
      [
        'PORT must be a whole number from 0 to 65535, not "8o80"',
        'DATABASE_URL must be a URL that starts with postgres:// or postgresql://, not "mysql://…"',
        'SHOP_CURRENCY must be one of EUR, JPY, not "XXX"',
        'INTERNAL_SECRET must have at least 32 characters',
        `CURSOR_KEYS could not be read from the file ${join(folder, 'none')} (ENOENT)`,
      ].join('\n'),
    );
  });

  it.each([
    ['http://mail', 'not "http://mail"'],
    ['http://me:secret@mail', 'not "http://…"'],
    ['http://mail?password=secret', 'not "http://…"'],
    ['smtp://me:secret', 'not "smtp://…"'],
    ['secret', undefined],
    ['me:secret@mail', undefined],
  ])('readConfig repeats the URL %p without its password', (address, part) => {
    const text = 'SMTP_URL must be a URL that starts with smtp:// or smtps://';
    expect(() => readConfig({ ...good, SMTP_URL: address }, variables)).toThrow(
      new ConfigError([part === undefined ? text : `${text}, ${part}`]),
    );
  });

  it('readConfig names the file of a rejected value, and shortens a long one', () => {
    const file = join(folder, 'port');
    writeFileSync(file, 'x'.repeat(101));
    expect(() => readConfig({ ...good, PORT_FILE: file }, variables)).toThrow(
      `PORT must be a whole number from 0 to 65535, not "${'x'.repeat(100)}…" (from the file ${file})`,
    );
  });

  it.each(['-1', '65536', '1e3', ' 80', '0x50', '8080.5', ''])('readConfig rejects or defaults the port %p', (port) => {
    const read = () => readConfig({ ...good, PORT: port }, variables).port;
    if (port === '') expect(read()).toBe(8080);
    else expect(read).toThrow('PORT must be a whole number');
  });
});

describe('readTogether', () => {
  const reading = (environment: Environment) =>
    readTogether(environment, {
      port: (given) => readConfig(given, { port: variables.port }),
      all: (given) => readConfig(given, variables),
      folder: () => {
        if (environment.FOLDER !== undefined) throw new StartError('the folder is wrong');
        return 'right';
      },
    });

  it('readTogether returns what each reader returns', () => {
    expect(reading(good)).toMatchObject({ port: { port: 8080 }, all: { host: '127.0.0.1' }, folder: 'right' });
  });

  it('readTogether reports the configuration errors of all readers, each once', () => {
    expect(() => reading({ ...good, PORT: 'x', SHOP_CURRENCY: 'XXX', FOLDER: '' })).toThrow(
      new ConfigError([
        'PORT must be a whole number from 0 to 65535, not "x"',
        'SHOP_CURRENCY must be one of EUR, JPY, not "XXX"',
        'the folder is wrong',
      ]),
    );
  });

  it('a programming error is not reported as a configuration error', () => {
    const broken = (): never => {
      throw new TypeError('broken');
    };
    expect(() => readTogether(good, { broken })).toThrow(TypeError);
  });
});
