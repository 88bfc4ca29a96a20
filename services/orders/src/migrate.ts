// Brings the schema of orders up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrate } from '@shop/shared/database';
import { readConfig, runProcess, url } from '@shop/shared/runtime';

const folder = fileURLToPath(new URL('../migrations', import.meta.url));

await runProcess('orders-migrate', async ({ log }) => {
  const config = readConfig(process.env, { databaseUrl: url('DATABASE_URL', ['postgres', 'postgresql']) });
  const applied = await migrate({ url: config.databaseUrl, folder });
  log.info({ applied }, applied.length > 0 ? 'migrations applied' : 'nothing to migrate');
  process.exit(0);
});
