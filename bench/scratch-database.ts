// A PostgreSQL of its own with the empty schema of one service, for benchmarks of operators' functions.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, provisionDatabase, type SchemaName, schemas } from '@shop/shared/database';
import { startEmbeddedPostgres } from '@shop/shared/embedded';
import type { ServiceName } from '@shop/shared/shop';
import { serviceFolder } from '@shop/shared/testing';
import { withCleanUp } from '../cli/src/shop/clean-up.ts';

const password = 'only-for-the-benchmark';

/** @param work gets the connection string of the service, and a folder for its files */
export async function withScratchDatabase(
  service: ServiceName,
  work: (url: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const starting = startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: true });
  const fill = async (): Promise<void> => {
    const postgres = await starting;
    const roles = Object.fromEntries(schemas.map((name) => [name, password])) as Record<SchemaName, string>;
    const urls = await provisionDatabase({ adminUrl: postgres.url, database: 'bench', roles });
    await migrate({ url: urls[service], folder: `${serviceFolder(service)}/migrations` });
    await work(urls[service], folder);
  };
  await withCleanUp(fill, async () => {
    await (await starting).stop();
    await rm(folder, { recursive: true, force: true });
  });
}
