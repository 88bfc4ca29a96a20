// Brings the schema of notifications up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrate } from '@shop/shared/database';
import { createLog, readConfig, url } from '@shop/shared/runtime';

try {
  const { databaseUrl } = readConfig(process.env, { databaseUrl: url('DATABASE_URL', ['postgres', 'postgresql']) });
  const applied = await migrate({ url: databaseUrl, folder: fileURLToPath(new URL('../migrations', import.meta.url)) });
  createLog('notifications').info({ applied }, 'migrated');
} catch (error) {
  console.error(`notifications: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
