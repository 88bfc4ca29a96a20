// `staff`: manages the scopes of accounts. New scopes apply from the next log-in or token refresh of the account.
import type { Staff } from '@shop/accounts/operator';
import { type StaffScope, staffScopes } from '@shop/accounts/operator/values';
import { emailKey, operatorCommand } from '@shop/shared/shop';
import { Argument, Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import type { OpenShop } from '../shop/open-shop.ts';
import { operators, withOperator } from '../shop/operators.ts';
import { operatorEnvironment } from '../shop/processes.ts';

export function staffCommand(): Command {
  const command = new Command('staff');
  const change = (verb: 'grant' | 'revoke', description: string, work: 'grantScopes' | 'revokeScopes'): void => {
    withJson(command.command(verb).description(description))
      .argument('<email>', 'e-mail address of the account')
      .addArgument(new Argument('<scope...>', 'scopes of the account').choices(staffScopes))
      .action(async (email: string, scopes: StaffScope[], output: Output) => {
        const member = await withOperator('accounts', (operator, environment) =>
          operator[work](environment, email, scopes),
        );
        print(output, member, () =>
          member.scopes.length === 0
            ? `${member.email} has no scopes`
            : `${member.email} has ${member.scopes.join(', ')} (from its next log-in or refresh on)`,
        );
      });
  };
  change('grant', 'grant scopes to an account', 'grantScopes');
  change('revoke', 'revoke scopes of an account', 'revokeScopes');
  withJson(command.command('list').description('list the accounts that have scopes')).action(async (output: Output) => {
    const staff = await withOperator('accounts', ({ listStaff }, environment) => listStaff(environment));
    print(output, staff, () =>
      staff.length === 0
        ? `No account has scopes: grant some with "${operatorCommand('shop', 'staff grant EMAIL SCOPE…')}".`
        : table([['EMAIL', 'SCOPES', 'ACCOUNT'], ...staff.map((member) => rowOf(member))]),
    );
  });
  return command;
}

/** Returns the account with this e-mail address; undefined when it has no scopes. */
export async function findMember(shop: OpenShop, email: string): Promise<Staff | undefined> {
  const { listStaff } = await operators.accounts();
  const staff = await listStaff(operatorEnvironment(shop, 'accounts'));
  return staff.find((member) => emailKey(member.email) === emailKey(email));
}

function rowOf({ email, scopes: held, accountId }: Staff): string[] {
  return [email, held.join(' '), accountId];
}
