// A shop that starts with the last release, over a PostgreSQL and a broker of its own, and the clients that use it.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '@shop/shared/database';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import { createTestDatabase, plainEnvironment, startBrokerServer, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { identity } from '../../faults/outages/deployment.ts';
import { prepareChecks } from '../../faults/outages/prepare-checks.ts';
import { type ReplicatedShop, startReplicatedShop } from '../../faults/restarts/replicated-shop.ts';
import { copyPresentRelease, installPackages, takePreviousRelease } from './releases.ts';

export interface UpgradedShop extends ReplicatedShop {
  /** The folders of the two releases. */
  readonly trees: { readonly old: string; readonly new: string };
  /** A pool that reads all schemas. Tables without a schema are those of orders. */
  readonly admin: pg.Pool;
  /** The address of the broker. */
  readonly brokerUrl: string;
  /** Runs `use` with a connection of the catalogue's own role. */
  catalogueClient<T>(use: (client: pg.Client) => Promise<T>): Promise<T>;
  /** The text of the e-mails of this kind to the address, without the line breaks of their transport. */
  emailsTo(address: string, kind: string): Promise<string[]>;
}

/** Starts two processes of each service and two gateways of the last release, on a database that it has migrated. */
export async function startPreviousRelease(): Promise<UpgradedShop> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  const removed = (tree: string): string => {
    stops.push(() => rm(tree, { recursive: true, force: true }));
    return tree;
  };
  try {
    const old = removed(takePreviousRelease());
    installPackages(old);
    const trees = { old, new: removed(copyPresentRelease()) };
    const broker = await startBrokerServer({ own: true });
    stops.push(() => broker.stop());
    const database = await createTestDatabase([]);
    await migrateWith(trees.old, database);
    // A service that the last release does not have is deployed before the upgrade.
    await migrateWith(
      trees.new,
      database,
      serviceNames.filter((name) => !servicesOf(trees.old).includes(name)),
    );
    const admin = new pg.Pool({ connectionString: database.adminUrl, max: 4, options: '-c search_path=orders' });
    admin.on('error', () => {});
    stops.push(() => admin.end());
    await prepareChecks(admin);
    const shop = await startReplicatedShop({
      database,
      tree: trees.old,
      environment: {
        EVENTS_URL: broker.url,
        KEY_ENCRYPTION_SECRET: identity.keySecret,
        RESERVATION_SECONDS: '3',
        PAYMENTS: 'required',
        PAYMENT_DUE_MINUTES: '10000',
      },
    });
    stops.push(() => shop.stop());
    return {
      ...shop,
      trees,
      admin,
      brokerUrl: broker.url,
      catalogueClient: (use) => withClient({ url: database.urls.catalogue }, use),
      async emailsTo(address, kind) {
        const names = (await readdir(shop.mailFolder)).filter((name) => name.endsWith(`.${kind}.eml`));
        const texts = await Promise.all(names.map((name) => readFile(join(shop.mailFolder, name), 'latin1')));
        return texts.filter((text) => text.includes(address)).map((text) => text.replaceAll('=\r\n', ''));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Applies the missing migrations of a release, as its operator does, and returns the logs. */
export async function migrateWith(tree: string, { urls }: TestDatabase, services = servicesOf(tree)): Promise<string> {
  let logs = '';
  for (const name of services) {
    const main = `${tree}services/${name}/src/migrate.ts`;
    const env = { ...plainEnvironment(), DATABASE_URL: urls[name] };
    logs += (await promisify(execFile)(process.execPath, [main], { env })).stdout;
  }
  return logs;
}

function servicesOf(tree: string): ServiceName[] {
  return serviceNames.filter((name) => existsSync(`${tree}services/${name}`));
}
