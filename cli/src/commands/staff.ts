// `staff`: who may do what beyond a customer. Scopes come with the next log-in or refresh of the account.
import { emailKey } from '@shop/shared/runtime';
import { Argument, Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { type OpenShop, withShop } from '../shop/open-shop.ts';
import { askScript } from '../shop/service-script.ts';

export interface Member {
  readonly accountId: string;
  readonly email: string;
  readonly scopes: readonly string[];
}

/** The accounts service knows them too, and has the last word. */
const scopes = ['catalogue:write', 'orders:fulfil', 'orders:read-all'];

const ask = <T>(...parameters: string[]): Promise<T> =>
  withShop((shop: OpenShop) => askScript<T>(shop, 'accounts', 'staff', parameters));

export function staffCommand(): Command {
  const command = new Command('staff').description('grant and revoke the scopes of staff');
  const change = (verb: 'grant' | 'revoke', description: string): void => {
    withJson(command.command(verb).description(description))
      .argument('<email>', 'e-mail address of the account')
      .addArgument(new Argument('<scope...>', 'what the account may do').choices(scopes))
      .action(async (email: string, named: string[], output: Output) => {
        const member = await ask<Member>(verb, email, ...named);
        print(output, member, () =>
          member.scopes.length === 0
            ? `${member.email} has no scopes`
            : `${member.email} has ${member.scopes.join(', ')} (from its next log-in or refresh on)`,
        );
      });
  };
  change('grant', 'give scopes to an account');
  change('revoke', 'take scopes from an account');
  withJson(command.command('list').description('list the accounts that have scopes')).action(async (output: Output) => {
    const { staff } = await ask<{ staff: Member[] }>('list');
    print(output, staff, () =>
      staff.length === 0
        ? 'Nobody has scopes yet: grant some with "staff grant EMAIL SCOPE…".'
        : table([['EMAIL', 'SCOPES', 'ACCOUNT'], ...staff.map((member) => rowOf(member))]),
    );
  });
  return command;
}

/** The account with this e-mail, when it has any scopes. */
export async function findMember(shop: OpenShop, email: string): Promise<Member | undefined> {
  const { staff } = await askScript<{ staff: Member[] }>(shop, 'accounts', 'staff', ['list']);
  return staff.find((member) => emailKey(member.email) === emailKey(email));
}

function rowOf({ email, scopes: held, accountId }: Member): string[] {
  return [email, held.join(' '), accountId];
}
