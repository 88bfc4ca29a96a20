// Every migration since the last release can be applied while processes of that release answer requests.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { knownMigrations, migrate, withClient } from '@shop/shared/database';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import { createTestDatabase, serviceFolder, type TestDatabase } from '@shop/shared/testing';
import { releasedMigrations } from '../compatibility/contracts.ts';
import { concurrentFaults, isConcurrent, judgeMigration, type Migration } from './judge-migration.ts';
import { readSchema, withoutUnused } from './released-schema.ts';

const shared = fileURLToPath(new URL('../../shared/migrations/', import.meta.url));

const expand = fileURLToPath(new URL('../../test/system/upgrades/expand/', import.meta.url));
const expansions = serviceNames
  .filter((service) => existsSync(`${expand}${service}`))
  .flatMap((service) => readdirSync(`${expand}${service}`).map((name) => [service, name] as const));

describe('the migrations since the last release', () => {
  it.each(serviceNames)(
    'the migrations since the previous release of %s keep requests and the previous release working',
    async (service) => {
      const database = await createTestDatabase([]);
      try {
        const url = database.urls[service];
        const folder = `${serviceFolder(service)}/migrations`;
        const released = releasedMigrations(service);
        await migrate({ url, folder, only: released });
        const added = (await knownMigrations(folder)).filter((name) => !released.includes(name));
        const migrations = added.map((name) => {
          const path = name.startsWith('shared/') ? `${shared}${name.slice('shared/'.length)}` : `${folder}/${name}`;
          return { name, text: readFileSync(path, 'utf8') };
        });
        expect(await faultsOfAll(url, migrations)).toEqual([]);
      } finally {
        await database.drop();
      }
    },
  );
});

/** Applies migrations to the schema of the last release, and returns their faults. */
function faultsOfAll(url: string, migrations: readonly Migration[]): Promise<string[]> {
  return withClient({ url }, async (client) => {
    const faults: string[] = [];
    let used = await readSchema(client);
    for (const migration of migrations) {
      if (!isConcurrent(migration)) await client.query('BEGIN');
      faults.push(...(await judgeMigration(client, migration, used)));
      if (!isConcurrent(migration)) await client.query('COMMIT');
      used = withoutUnused(used, migration.text);
    }
    return faults;
  });
}

const bad: readonly (readonly [title: string, service: ServiceName, text: string, expected: RegExp])[] = [
  ['a renamed column', 'orders', 'ALTER TABLE orders RENAME tracking TO parcel', /column orders\.tracking was removed/],
  ['a renamed table', 'orders', 'ALTER TABLE order_lines RENAME TO lines', /relation order_lines was removed/],
  ['a removed column', 'accounts', 'ALTER TABLE accounts DROP COLUMN locale', /column accounts\.locale was removed/],
  ['a removed table', 'catalogue', 'DROP TABLE import_jobs CASCADE', /relation import_jobs was removed/],
  ['a removed view', 'orders', 'DROP VIEW all_orders', /relation all_orders was removed/],
  [
    'a removed function',
    'orders',
    'DROP FUNCTION archived_lines',
    /function archived_lines\(document json\) was removed/,
  ],
  [
    'a removed trigger',
    'catalogue',
    'DROP TRIGGER products_changed ON products',
    /trigger products_changed of products was removed/,
  ],
  [
    'a removed unique index',
    'accounts',
    'ALTER TABLE accounts DROP CONSTRAINT accounts_email_key',
    /unique index accounts_email_key was removed/,
  ],
  [
    'another type',
    'catalogue',
    'ALTER TABLE stock_ledger ALTER COLUMN quantity TYPE bigint',
    /column stock_ledger\.quantity was integer NOT NULL and is bigint NOT NULL/,
  ],
  [
    'NOT NULL on a column that may be NULL',
    'orders',
    'ALTER TABLE orders ALTER COLUMN tracking SET NOT NULL',
    /column orders\.tracking was .* and is .* NOT NULL/,
  ],
  [
    'NULL in a column that the last release reads without it',
    'orders',
    'ALTER TABLE orders ALTER COLUMN currency DROP NOT NULL',
    /column orders\.currency was text NOT NULL and is text/,
  ],
  [
    'a default that the last release relies on',
    'orders',
    'ALTER TABLE orders ALTER COLUMN version DROP DEFAULT',
    /column orders\.version has lost its default/,
  ],
  [
    'a new column that is required',
    'orders',
    'ALTER TABLE orders ADD COLUMN gift boolean NOT NULL',
    /column orders\.gift is new and required/,
  ],
  ['a removal inside DO', 'orders', "DO $$ BEGIN EXECUTE 'DROP VIEW all_orders'; END $$", /all_orders was removed/],
  [
    'an index that writes wait for',
    'orders',
    'CREATE INDEX orders_version ON orders (version)',
    /orders is read as a whole, and requests wait \(.*ShareLock/,
  ],
  [
    'an index inside DO',
    'orders',
    "DO $$ BEGIN EXECUTE 'CREATE INDEX orders_version ON orders (version)'; END $$",
    /orders is read as a whole/,
  ],
  [
    'a column with a volatile default',
    'orders',
    'ALTER TABLE orders ADD COLUMN code uuid NOT NULL DEFAULT gen_random_uuid()',
    /orders is written anew/,
  ],
  [
    'a stored generated column',
    'catalogue',
    'ALTER TABLE products ADD COLUMN double_price bigint GENERATED ALWAYS AS (price_minor * 2) STORED',
    /products is written anew/,
  ],
  [
    'a constraint that is checked under its lock',
    'orders',
    'ALTER TABLE orders ADD CONSTRAINT small CHECK (version < 1000000)',
    /orders is read as a whole, and requests wait \(.*AccessExclusiveLock/,
  ],
  [
    'a constraint of a new column',
    'orders',
    'ALTER TABLE orders ADD COLUMN boxes integer DEFAULT 1 CHECK (boxes > 0)',
    /orders is read as a whole/,
  ],
  [
    'a constraint that is validated in the transaction that adds it',
    'orders',
    `ALTER TABLE orders ADD CONSTRAINT small CHECK (version < 1000000) NOT VALID;
     ALTER TABLE orders VALIDATE CONSTRAINT small`,
    /orders is read as a whole/,
  ],
  [
    'a foreign key that is checked under its lock',
    'orders',
    `ALTER TABLE order_history ADD FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)`,
    /order_history is read as a whole/,
  ],
  [
    'a unique constraint',
    'orders',
    'ALTER TABLE orders ADD CONSTRAINT reservation_once UNIQUE (reservation_id, account_id)',
    /orders is read as a whole/,
  ],
  [
    'a constraint of a new column that the last release leaves empty',
    'orders',
    `ALTER TABLE orders ADD COLUMN gift boolean;
     ALTER TABLE orders ADD CONSTRAINT gift_known CHECK (gift IS NOT NULL) NOT VALID`,
    /check gift_known of orders is new, and can refuse changes by the last release/,
  ],
  [
    'a constraint when the last release satisfies another one',
    'orders',
    '-- Satisfied by the last release: check large of orders\n' +
      'ALTER TABLE orders ADD CONSTRAINT small CHECK (version < 9) NOT VALID',
    /check small of orders is new/,
  ],
  [
    'a foreign key that is not valid yet',
    'orders',
    `ALTER TABLE order_history
       ADD CONSTRAINT known FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id) NOT VALID`,
    /foreign key known of order_history is new/,
  ],
  [
    'a foreign key of a new table, which prevents the removal of rows of an old one',
    'orders',
    `CREATE TABLE notes (order_id uuid, account_id uuid,
       CONSTRAINT known FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id))`,
    /foreign key known of notes is new/,
  ],
  ['a change of all rows', 'orders', 'UPDATE orders SET tracking = tracking', /orders is read as a whole/],
  ['an emptied table', 'orders', 'TRUNCATE reservations', /reservations is written anew/],
  [
    'an index without a transaction inside one',
    'orders',
    'CREATE INDEX CONCURRENTLY orders_version ON orders (version)',
    /fails: CREATE INDEX CONCURRENTLY cannot run inside a transaction block/,
  ],
];

const harmless: readonly (readonly [title: string, service: ServiceName, text: string])[] = [
  ['a column that may be NULL', 'orders', 'ALTER TABLE orders ADD COLUMN note text'],
  ['a column with a constant default', 'orders', 'ALTER TABLE orders ADD COLUMN gift boolean NOT NULL DEFAULT false'],
  [
    'a column with the time of the migration',
    'orders',
    'ALTER TABLE orders ADD COLUMN seen_at timestamptz DEFAULT now()',
  ],
  [
    'a new table with indexes and foreign keys',
    'orders',
    `CREATE TABLE notes (id uuid PRIMARY KEY, order_id uuid NOT NULL, account_id uuid NOT NULL,
       FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id));
     CREATE INDEX notes_order ON notes (order_id);
     ALTER TABLE notes ALTER COLUMN order_id TYPE text, DROP CONSTRAINT notes_order_id_account_id_fkey`,
  ],
  [
    'a constraint that is not valid yet and that the last release satisfies',
    'orders',
    '-- Satisfied by the last release: check small of orders\n' +
      'ALTER TABLE orders ADD CONSTRAINT small CHECK (version < 1000000) NOT VALID',
  ],
  [
    'constraints between new tables',
    'orders',
    `CREATE TABLE notes (id uuid PRIMARY KEY, note text CHECK (note <> ''));
     CREATE TABLE note_reads (note_id uuid REFERENCES notes)`,
  ],
  [
    'a foreign key of a new table that the last release satisfies',
    'orders',
    `CREATE TABLE notes (order_id uuid, account_id uuid,
       CONSTRAINT known FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id));
-- Satisfied by the last release: foreign key known of notes`,
  ],
  [
    'another body of a function and of a trigger',
    'catalogue',
    `CREATE OR REPLACE FUNCTION products_replaced() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     DROP TRIGGER products_replaced ON products;
     CREATE TRIGGER products_replaced AFTER TRUNCATE ON products FOR EACH STATEMENT
       EXECUTE FUNCTION products_replaced()`,
  ],
  ['another default', 'orders', 'ALTER TABLE orders ALTER COLUMN version SET DEFAULT 2'],
  ['a removed index that is not unique', 'orders', 'DROP INDEX orders_account_total'],
  [
    'a removed column that the last release does not use',
    'orders',
    '-- Not used by the last release: column orders.tracking\nALTER TABLE orders DROP COLUMN tracking CASCADE;\n' +
      '-- Not used by the last release: relation all_orders',
  ],
  [
    'rows of a new table that are read from an old one',
    'orders',
    'CREATE TABLE totals AS SELECT account_id, count(*) FROM orders GROUP BY account_id',
  ],
];

describe('a migration', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase(serviceNames);
  });
  afterAll(() => database.drop());

  /** Applies a migration to the present schema, and rolls it back. */
  function faultsOf(service: ServiceName, text: string): Promise<string[]> {
    return withClient({ url: database.urls[service] }, async (client) => {
      await client.query('BEGIN');
      return judgeMigration(client, { name: '9999.sql', text }, await readSchema(client));
    });
  }

  it.each(bad)('a migration is rejected with %s', async (_, service, text, expected) => {
    expect((await faultsOf(service, text)).join('\n')).toMatch(expected);
  });

  it.each(expansions)('a migration is accepted as %s %s of the upgrades', async (service, name) => {
    const migration = { name, text: readFileSync(`${expand}${service}/${name}`, 'utf8') };
    const { text } = migration;
    expect(isConcurrent(migration) ? concurrentFaults(text) : await faultsOf(service, text)).toEqual([]);
  });

  it.each(harmless)('a migration is accepted with %s', async (_, service, text) => {
    expect(await faultsOf(service, text)).toEqual([]);
  });
});

describe('a migration after others', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase(serviceNames);
  });
  afterEach(() => database.drop());

  const faultsOf = (service: ServiceName, ...migrations: Migration[]): Promise<string[]> =>
    faultsOfAll(database.urls[service], migrations);

  const declaration = '-- Satisfied by the last release: check later of orders\n';
  const addLater = (condition: string) => `ALTER TABLE orders ADD CONSTRAINT later CHECK (${condition}) NOT VALID`;

  it('a migration after others may validate the constraint of an earlier one', async () => {
    const faults = await faultsOf(
      'orders',
      { name: '1.sql', text: `${declaration}${addLater('version < 1000000')}` },
      { name: '2.sql', text: 'ALTER TABLE orders VALIDATE CONSTRAINT later' },
    );
    expect(faults).toEqual([]);
  });

  it('a migration after others is rejected when it gives a constraint another condition', async () => {
    const faults = await faultsOf(
      'orders',
      { name: '1.sql', text: `${declaration}${addLater('version < 1000000')}` },
      { name: '2.sql', text: `ALTER TABLE orders DROP CONSTRAINT later; ${addLater('version < 9')}` },
    );
    expect(faults).toEqual([expect.stringMatching(/^2\.sql: check later of orders is new, and can refuse changes/)]);
  });

  it('a migration after others is rejected when it adds a unique index outside a transaction, unless the previous release satisfies it', async () => {
    const name = '1.concurrently.sql';
    const index = (column: string) =>
      `DROP INDEX CONCURRENTLY IF EXISTS ${column}_once;\nCREATE UNIQUE INDEX CONCURRENTLY ${column}_once ON orders (${column});\n`;
    const satisfied = '-- Satisfied by the last release: unique index reservation_id_once\n';
    expect(await faultsOf('orders', { name, text: index('account_id') })).toEqual([
      expect.stringMatching(/unique index account_id_once is new, and can refuse changes by the last release/),
    ]);
    expect(await faultsOf('orders', { name, text: `${satisfied}${index('reservation_id')}` })).toEqual([]);
  });

  it('a migration after others need not repeat which objects the previous release does not use', async () => {
    const faults = await faultsOf(
      'catalogue',
      { name: '1.sql', text: '-- Not used by the last release: relation import_jobs\nDROP TABLE import_jobs CASCADE' },
      { name: '2.sql', text: 'ALTER TABLE products ADD COLUMN note text' },
    );
    expect(faults).toEqual([]);
  });

  it('a migration after others may read and rewrite a table that the previous release does not have', async () => {
    const faults = await faultsOf(
      'orders',
      { name: '1.sql', text: 'CREATE TABLE notes (id integer PRIMARY KEY)' },
      { name: '2.sql', text: 'ALTER TABLE notes ALTER COLUMN id TYPE bigint; CREATE INDEX notes_id ON notes (id)' },
    );
    expect(faults).toEqual([]);
  });

  it('a migration after others is rejected when it changes a type of the previous release', async () => {
    await withClient({ url: database.urls.orders }, (client) => client.query("CREATE TYPE size AS ENUM ('small')"));
    const faults = await faultsOf('orders', { name: '1.sql', text: "ALTER TYPE size RENAME VALUE 'small' TO 'tiny'" });
    expect(faults).toEqual(['1.sql: type size was small and is tiny']);
  });

  it('a migration after others is rejected when it removes a unique index outside a transaction', async () => {
    const name = '1.concurrently.sql';
    const faults = await faultsOf('catalogue', {
      name,
      text: 'DROP INDEX CONCURRENTLY IF EXISTS products_external_key;\n',
    });
    expect(faults).toEqual([`${name}: unique index products_external_key was removed`]);
  });
});

describe('a migration outside a transaction', () => {
  const index = 'CREATE INDEX CONCURRENTLY orders_version\n  ON orders (version);\n';

  it('a migration outside a transaction creates an index after it has removed the remains of a failed attempt', () => {
    const text = `-- For lists by version.\nDROP INDEX CONCURRENTLY IF EXISTS orders_version;\n${index}`;
    expect(concurrentFaults(text)).toEqual([]);
  });

  it.each([
    ['an index without the removal', index],
    ['the removal of another index', `DROP INDEX CONCURRENTLY IF EXISTS other;\n${index}`],
    ['an index that writes wait for', 'CREATE INDEX orders_version ON orders (version);\n'],
    ['another statement', 'ALTER TABLE orders ADD COLUMN note text;\n'],
  ])('a migration outside a transaction is rejected with %s', (_, text) => {
    expect(concurrentFaults(text)).toHaveLength(1);
  });
});
