// `keys`: the keys that sign access tokens. Services and gateway follow each change.
import type { ListedKey } from '@shop/accounts/operator';
import type { Environment } from '@shop/shared/runtime';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { type Operator, withOperator } from '../shop/operators.ts';

async function run(
  output: Output,
  work: (accounts: Operator<'accounts'>, environment: Environment) => Promise<ListedKey[]>,
): Promise<void> {
  const keys = await withOperator('accounts', work);
  print(output, keys, () =>
    table([
      ['KEY', 'STATE', 'PUBLISHED', 'MADE'],
      ...keys.map(({ kid, state, published, createdAt }) => [
        kid,
        state,
        published ? 'yes' : 'no',
        createdAt.toISOString(),
      ]),
    ]),
  );
}

export function keysCommand(): Command {
  const command = new Command('keys');
  withJson(command.command('list').description('list the keys, newest first')).action((output: Output) =>
    run(output, ({ listSigningKeys }, environment) => listSigningKeys(environment)),
  );
  withJson(command.command('rotate').description('sign with the next key; issued tokens stay valid')).action(
    (output: Output) => run(output, ({ rotateSigningKeys }, environment) => rotateSigningKeys(environment)),
  );
  withJson(command.command('revoke').description('refuse every token that a key has signed'))
    .argument('<kid>', 'id of the key, as listed')
    .action((kid: string, output: Output) =>
      run(output, ({ revokeSigningKey }, environment) => revokeSigningKey(environment, kid)),
    );
  return command;
}
