// The encoding and the locale of the shop's database.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { localeFault, migrate, readLocale, withClient } from '@shop/shared/database';
import { createTestDatabase, serviceFolder, startServices, type TestDatabase } from '@shop/shared/testing';
import { adminUrlVariable } from '../../src/testing/run-state.ts';

const adminUrl = process.env[adminUrlVariable] ?? '';
const latin = `latin_${randomBytes(6).toString('hex')}`;
const latinUrl = Object.assign(new URL(adminUrl), { pathname: `/${latin}` }).href;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([]);
  await withClient({ url: adminUrl }, (client) =>
    client.query(`CREATE DATABASE ${latin} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`),
  );
});
afterAll(async () => {
  await database.drop();
  await withClient({ url: adminUrl }, (client) => client.query(`DROP DATABASE ${latin}`));
});

const toLocale = (url: string) => withClient({ url }, readLocale);

/** Makes PostgreSQL compare the version of the locale with another one. */
const becomeOutdated = (url: string) =>
  withClient({ url }, (client) =>
    client.query("UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()"),
  );

describe('a database that the shop creates', () => {
  it('a database that the shop creates has the encoding UTF8 and a locale that library updates do not change', async () => {
    const found = await toLocale(database.adminUrl);
    expect(found).toMatchObject({ encoding: 'UTF8', locale: 'builtin C.UTF-8', isOutdated: false });
    expect(localeFault(found)).toBeUndefined();
  });
});

describe('a database with another encoding', () => {
  it('a database with another encoding is rejected by migrations, which name the encoding that the shop needs', async () => {
    await expect(migrate({ url: latinUrl, folder: `${serviceFolder('orders')}/migrations` })).rejects.toThrow(
      `the database ${latin} has the encoding LATIN1: create a database with ENCODING 'UTF8' TEMPLATE template0`,
    );
    expect(localeFault(await toLocale(latinUrl))).toMatchObject({ isFatal: true });
  });
});

describe('a database whose locale has another version than its indexes', () => {
  it('a service logs a warning with the repair commands when the version of the locale differs from that of the indexes', async () => {
    const services = await startServices(['notifications'], { shared: false });
    try {
      expect(services.service('notifications').output()).not.toContain('REFRESH COLLATION VERSION');
      await becomeOutdated(services.database.adminUrl);
      await services.service('notifications').restart();
      expect(services.service('notifications').output()).toMatch(/REINDEX DATABASE .*REFRESH COLLATION VERSION/);
    } finally {
      await services.stop();
    }
  });
});
