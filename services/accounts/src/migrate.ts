// Brings the schema of accounts up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrate } from '@shop/shared/database';
import { readDatabaseConfig } from './config.ts';

try {
  const { databaseUrl } = readDatabaseConfig(process.env);
  const applied = await migrate({ url: databaseUrl, folder: fileURLToPath(new URL('../migrations', import.meta.url)) });
  console.log(applied.length === 0 ? 'accounts: nothing to migrate' : `accounts: applied ${applied.join(', ')}`);
} catch (error) {
  console.error(`accounts: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
