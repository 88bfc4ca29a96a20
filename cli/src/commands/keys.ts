// `keys`: the keys that sign access tokens. Services and gateway follow a change by themselves.
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withShop } from '../shop/open-shop.ts';
import { askScript } from '../shop/service-script.ts';

interface Key {
  readonly kid: string;
  readonly state: string;
  readonly published: boolean;
  readonly createdAt: string;
}

async function run(output: Output, ...parameters: string[]): Promise<void> {
  const { keys } = await withShop((shop) => askScript<{ keys: Key[] }>(shop, 'accounts', 'keys', parameters));
  print(output, keys, () =>
    table([
      ['KEY', 'STATE', 'PUBLISHED', 'MADE'],
      ...keys.map(({ kid, state, published, createdAt }) => [kid, state, published ? 'yes' : 'no', createdAt]),
    ]),
  );
}

export function keysCommand(): Command {
  const command = new Command('keys').description('rotate and revoke the keys that sign access tokens');
  withJson(command.command('list').description('list the keys, newest first')).action((output: Output) =>
    run(output, 'list'),
  );
  withJson(
    command.command('rotate').description('sign with the next key from now on; tokens that are out stay valid'),
  ).action((output: Output) => run(output, 'rotate'));
  withJson(command.command('revoke').description('refuse every token that a key has signed'))
    .argument('<kid>', 'the key, as listed')
    .action((kid: string, output: Output) => run(output, 'revoke', kid));
  return command;
}
