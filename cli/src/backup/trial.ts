// A temporary shop for a trial: an embedded PostgreSQL in a folder that is deleted afterwards.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@shop/shared/embedded';
import { withCleanUp } from '../shop/clean-up.ts';
import { dataFolder } from '../shop/data-folder.ts';
import { provision } from '../shop/database.ts';
import type { OpenShop } from '../shop/open-shop.ts';
import { type KeptSecrets, keptSecrets } from '../shop/secrets.ts';
import { givenEnvironment, readSettings } from '../shop/settings.ts';

/** @param variables the secrets of its services */
export async function withTrialShop<T>(
  variables: KeptSecrets['variables'],
  use: (shop: OpenShop) => Promise<T>,
): Promise<T> {
  const given = givenEnvironment();
  const path = join(tmpdir(), `shop-trial-${randomUUID()}`);
  const folder = dataFolder(path);
  const start = async () => {
    await mkdir(path, { mode: 0o700 });
    // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
    await chmod(path, 0o711);
    return startEmbeddedPostgres({ dataDir: folder.postgres, durable: false });
  };
  let starting: Promise<EmbeddedPostgres> | undefined;
  return withCleanUp(
    async () => {
      starting = start();
      const server = await starting;
      const own = await keptSecrets(folder.secrets);
      const databases = await provision(server.url, own, false);
      const secrets = { ...own, variables: { ...own.variables, ...variables } };
      return use({ settings: readSettings(given), folder, given, running: undefined, secrets, databases });
    },
    async () => {
      // A server that did not start has ended.
      const server = await starting?.catch(() => undefined);
      await server?.stop();
      // The data may be outside the folder, where the user of PostgreSQL can reach it.
      const data = await realpath(join(folder.postgres, 'cluster')).catch(() => undefined);
      if (data !== undefined) await rm(data, { recursive: true, force: true, maxRetries: 5 });
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  );
}
