// `accounts`: what operators do with the accounts of customers.
import { eraseAsOperator, verifyEmailAsOperator } from '@shop/accounts/operator';
import { Command } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withShop } from '../shop/open-shop.ts';
import { type FoundData, findPersonalData } from '../shop/personal-data.ts';
import { operatorEnvironment } from '../shop/processes.ts';
import { accountId, days } from './arguments.ts';

export function accountsCommand(): Command {
  const command = new Command('accounts').description('look after the accounts of customers');
  withJson(command.command('verify-email').description('mark the e-mail address of an account as verified'))
    .argument('<email>', 'e-mail address of the account')
    .action(async (email: string, output: Output) => {
      const account = await withShop((shop) => verifyEmailAsOperator(operatorEnvironment(shop, 'accounts'), email));
      print(output, account, () => `${account.email} is verified (from the next log-in or refresh on)`);
    });
  withJson(command.command('erase').description('have an account and the personal data of its holder erased'))
    .argument('<account>', 'id of the account', accountId)
    .option('--days <n>', 'days until then, in which the holder can withdraw it', days, 7)
    .action(async (id: string, { days: until, ...output }: Output & { days: number }) => {
      const erasure = await withShop(async (shop) => ({
        accountId: id,
        eraseAt: await eraseAsOperator(operatorEnvironment(shop, 'accounts'), id, until),
      }));
      print(
        output,
        erasure,
        () => `${id} cannot log in from ${erasure.eraseAt.toISOString()} on, and is erased soon after`,
      );
    });
  withJson(command.command('verify-erased').description('find what is left of the holder of an erased account'))
    .argument('<account>', 'id of the account', accountId)
    .action(async (id: string, output: Output) => {
      const found = await withShop((shop) => findPersonalData(shop, id));
      print(output, found, () => described(found));
      if (found.length > 0) process.exitCode = exitCodes.failed;
    });
  return command;
}

function described(found: readonly FoundData[]): string {
  if (found.length === 0) return 'Nothing of the holder of this account is left.';
  const rows = found.map(({ where, place, rows }) => [where, place, rows]);
  return table([['WHERE', 'PLACE', 'ROWS'], ...rows]);
}
