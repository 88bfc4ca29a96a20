// The operator's command for staff: `grant EMAIL SCOPE…`, `revoke EMAIL SCOPE…`, `list`.
import type { Database } from '@shop/shared/database';
import { StartError } from '@shop/shared/runtime';
import { runCommand, withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from './config.ts';
import { changeScopes, listStaff, parseScopes } from './scope.ts';

const [verb, email, ...words] = process.argv.slice(2);

async function answer(database: Database): Promise<unknown> {
  if (verb === 'list' && email === undefined) return { staff: await listStaff(database) };
  if ((verb !== 'grant' && verb !== 'revoke') || email === undefined) {
    throw new StartError('use: staff grant EMAIL SCOPE… | staff revoke EMAIL SCOPE… | staff list');
  }
  const named = new Set(parseScopes(words));
  return changeScopes(database, email, (scope, held) => (named.has(scope) ? verb === 'grant' : held));
}

await runCommand('staff', async (say) => {
  const { databaseUrl: url } = readDatabaseConfig(process.env);
  say(await withDatabase({ url, name: 'accounts staff' }, answer));
});
