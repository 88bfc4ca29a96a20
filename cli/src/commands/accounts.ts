// `accounts`: what operators do with the accounts of customers.
import { verifyEmailAsOperator } from '@shop/accounts/operator';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { withShop } from '../shop/open-shop.ts';
import { operatorEnvironment } from '../shop/processes.ts';

export function accountsCommand(): Command {
  const command = new Command('accounts').description('look after the accounts of customers');
  withJson(command.command('verify-email').description('mark the e-mail address of an account as verified'))
    .argument('<email>', 'e-mail address of the account')
    .action(async (email: string, output: Output) => {
      const account = await withShop((shop) => verifyEmailAsOperator(operatorEnvironment(shop, 'accounts'), email));
      print(output, account, () => `${account.email} is verified (from the next log-in or refresh on)`);
    });
  return command;
}
