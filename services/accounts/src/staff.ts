// The operator's command for staff: `grant EMAIL SCOPE…`, `revoke EMAIL SCOPE…`, `list`.
import { StartError } from '@shop/shared/runtime';
import { readDatabaseConfig } from './config.ts';
import { runCommand } from './run-command.ts';
import { changeScopes, listStaff, parseScopes } from './scope.ts';

const [verb, email, ...words] = process.argv.slice(2);

await runCommand(
  'staff',
  () => readDatabaseConfig(process.env).databaseUrl,
  async (database) => {
    if (verb === 'list' && email === undefined) return { staff: await listStaff(database) };
    if ((verb !== 'grant' && verb !== 'revoke') || email === undefined) {
      throw new StartError('use: staff grant EMAIL SCOPE… | staff revoke EMAIL SCOPE… | staff list');
    }
    const named = new Set(parseScopes(words));
    return changeScopes(database, email, (scope, held) => (named.has(scope) ? verb === 'grant' : held));
  },
);
