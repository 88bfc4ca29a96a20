// A variable that is set as a file has the same effect as one that is set directly, for the processes of `npm start`
// and for the doctor.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schemas } from '@shop/shared/database';
import { freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { optional, readConfig, string } from '@shop/shared/runtime';
import { dataFolder } from '../src/shop/data-folder.ts';
import type { DatabaseUrls } from '../src/shop/database.ts';
import { hasMailPages, operatorEnvironment, shopProcesses, type Wiring } from '../src/shop/processes.ts';
import { keptSecrets } from '../src/shop/secrets.ts';
import { readSettings } from '../src/shop/settings.ts';
import { runShop } from './started-shop.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-files-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Writes each value into a file. @returns the variables that name the files */
async function asFiles(values: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const named = Object.entries(values).map(async ([name, value]) => {
    const path = join(folder, name);
    await writeFile(path, `${value}\n`);
    return [`${name}_FILE`, path];
  });
  return Object.fromEntries(await Promise.all(named));
}

const values = {
  JWKS_URL: 'https://provider.example/keys',
  JWT_ISSUER: 'https://provider.example',
  JWT_AUDIENCE: 'https://shop.example',
  MAIL_DIR: '/mails',
  INTERNAL_SECRET: 'i'.repeat(32),
  CURSOR_KEYS: 'c'.repeat(43),
  WEBHOOK_KEYS: 'w'.repeat(32),
  KEY_ENCRYPTION_SECRET: 'k'.repeat(32),
};
const names = Object.keys(values);

const readAll = (environment: NodeJS.ProcessEnv): object =>
  readConfig(environment, Object.fromEntries(names.map((name) => [name, optional(string(name))])));

async function wiring(given: NodeJS.ProcessEnv): Promise<Wiring> {
  const secrets = await keptSecrets(join(folder, 'secrets.json'));
  const databases = Object.fromEntries(schemas.map((name) => [name, `postgres://${name}@localhost/shop`]));
  return {
    settings: readSettings({}),
    folder: dataFolder(folder),
    secrets,
    databases: databases as DatabaseUrls,
    given,
  };
}

describe('the processes of npm start', () => {
  it('the processes of npm start have defaults for these variables', async () => {
    for (const { environment } of await shopProcesses(await wiring({}))) {
      expect(Object.values(readAll(environment))).toEqual(names.map(() => expect.any(String)));
    }
  });

  it('the processes of npm start read the files also for variables with a default', async () => {
    const shop = await wiring(await asFiles(values));
    for (const { environment } of await shopProcesses(shop)) expect(readAll(environment)).toEqual(values);
    const { JWKS_URL: _url, JWT_ISSUER: _issuer, JWT_AUDIENCE: _audience, ...scripts } = values;
    expect(readAll(operatorEnvironment(shop, 'accounts'))).toMatchObject(scripts);
  });
});

describe('the page of e-mails of npm start', () => {
  const gatewayOf = async (given: NodeJS.ProcessEnv) => (await shopProcesses(await wiring(given)))[0]?.environment;

  it('the page of e-mails of npm start shows the folder to which notifications writes', async () => {
    expect(await gatewayOf({})).toMatchObject({ MAIL_PAGE_DIR: join(folder, 'mail') });
    expect(await gatewayOf(await asFiles({ MAIL_DIR: '/mails' }))).toMatchObject({ MAIL_PAGE_DIR: '/mails' });
  });

  it('the page of e-mails is not served when e-mails are sent, and the operator sets the links of e-mails', async () => {
    const given = { ...(await asFiles({ SMTP_URL: 'smtp://localhost' })), MAIL_PAGE_DIR: '/mails' };
    expect(await gatewayOf(given)).toMatchObject({ MAIL_PAGE_DIR: '' });
    expect(await gatewayOf(given)).not.toHaveProperty('PASSWORD_RESET_URL');
  });

  it('the page of e-mails does not exist behind proxies, where the gateway does not serve it', async () => {
    const addressed = async (given: NodeJS.ProcessEnv) => {
      const shop = await wiring(given);
      return [hasMailPages(shop), (await shopProcesses(shop))[0]?.environment.PASSWORD_RESET_URL];
    };
    expect(await addressed({ TRUSTED_PROXIES: '0' })).toEqual([true, expect.stringContaining('/reset#token=')]);
    expect(await addressed({ TRUSTED_PROXIES: '1' })).toEqual([false, undefined]);
  });

  it('e-mails link to the storefront, or without it to pages of npm start, unless the operator has set other links', async () => {
    const own = 'https://shop.example/reset#token={token}';
    expect(await gatewayOf({ PASSWORD_RESET_URL: own })).toMatchObject({
      EMAIL_VERIFICATION_URL: 'http://localhost:8080/verify-email#token={token}',
      PASSWORD_RESET_URL: own,
    });
    expect(await gatewayOf({ STOREFRONT: 'off' })).toMatchObject({
      EMAIL_VERIFICATION_URL: 'http://localhost:8080/mail/verify-email#token={token}',
      PASSWORD_RESET_URL: 'http://localhost:8080/mail/reset-password#token={token}',
    });
  });
});

describe('the doctor', () => {
  it('the doctor checks the e-mail folder, the currency and the keys that the files name', async () => {
    const dataDir = join(folder, 'data');
    await (await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), durable: true })).stop();
    const mails = join(folder, 'mails');
    const given = {
      ...(await asFiles({ JWKS_URL: values.JWKS_URL, MAIL_DIR: mails, SHOP_CURRENCY: 'USD' })),
      GATEWAY_PORT: String((await freePorts(1))[0]),
    };
    const { output } = await runShop(dataDir, given, 'doctor', '--json');
    const { findings } = JSON.parse(output) as { findings: { check: string; detail: string }[] };
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: 'e-mail', detail: `written into ${mails}` }),
        expect.objectContaining({ check: 'signing keys', detail: 'those of provider.example' }),
        expect.objectContaining({ check: 'currency', detail: 'USD' }),
      ]),
    );

    const [port = 0] = await freePorts(1);
    const smtp = await asFiles({ SMTP_URL: `smtp://127.0.0.1:${port}` });
    const away = await runShop(dataDir, { GATEWAY_PORT: given.GATEWAY_PORT, ...smtp }, 'doctor');
    expect(away.output).toMatch(/^e-mail +failed +127\.0\.0\.1: /m);
    const unreadable = await runShop(dataDir, { SMTP_URL_FILE: join(folder, 'none') }, 'doctor');
    expect(unreadable).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^configuration +failed +SMTP_URL could not be read from the file/m),
    });
  });
});
