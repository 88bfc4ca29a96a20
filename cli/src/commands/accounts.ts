// `accounts`: the operator's commands for customer accounts.
import type { KnownAccount, KnownSession } from '@shop/accounts/operator';
import type { Environment } from '@shop/shared/runtime';
import { Command } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { list, table } from '../output/table.ts';
import { withShop } from '../shop/open-shop.ts';
import { type Operator, withOperator } from '../shop/operators.ts';
import { type FoundData, findPersonalData } from '../shop/personal-data.ts';
import { accountId, days, limit, textOf } from './arguments.ts';
import { showAudit } from './audit.ts';

export function accountsCommand(): Command {
  const command = new Command('accounts');
  withJson(command.command('find').description('find accounts by the beginning of the e-mail address or name'))
    .argument('<text>', 'beginning of the e-mail address or of the name')
    .option('--limit <n>', 'at most this many accounts', limit, 20)
    .action(async (text: string, { limit: most, ...output }: Output & { limit: number }) => {
      const found = await withOperator('accounts', ({ findAccounts }, environment) =>
        findAccounts(environment, text, most),
      );
      print(output, found, () => listedAccounts(found));
    });
  withJson(command.command('show').description('show an account'))
    .argument('<account>', whichAccount)
    .action(async (account: string, output: Output) => {
      const shown = await withOperator('accounts', ({ showAccount }, environment) => showAccount(environment, account));
      print(output, shown, () => shownAccount(shown));
    });
  addChange(
    command,
    'block',
    'refuse log-ins and end every session',
    ({ blockAsOperator }) => blockAsOperator,
    ({ email }) => `${email} is blocked`,
  );
  addChange(
    command,
    'unblock',
    'permit log-ins again',
    ({ unblockAsOperator }) => unblockAsOperator,
    ({ email }) => `${email} can log in`,
  );
  withJson(command.command('sessions').description('list the sessions of an account, the last used first'))
    .argument('<account>', whichAccount)
    .action(async (account: string, output: Output) => {
      const sessions = await withOperator('accounts', ({ listSessions }, environment) =>
        listSessions(environment, account),
      );
      print(output, sessions, () => listedSessions(sessions));
    });
  addChange(
    command,
    'end-sessions',
    'end every session',
    ({ endSessionsAsOperator }) => endSessionsAsOperator,
    ({ email, sessions }) => `${email} has to log in again (sessions that ended: ${sessions})`,
  );
  addChange(
    command,
    'reset',
    'send the holder an e-mail to set a new password',
    ({ sendPasswordResetAsOperator }) => sendPasswordResetAsOperator,
    ({ email }) => `an e-mail to set a new password is sent to ${email}`,
  );
  withJson(command.command('set-tax-id').description('set the tax id of an account after it was verified'))
    .argument('<account>', whichAccount)
    .argument('<country>', 'country that issued it, such as AT')
    .argument('<value>', 'tax id as it stands on invoices, such as ATU12345678', textOf(40))
    .requiredOption('--reason <text>', whyForAudit, textOf(500))
    .action(async (account: string, country: string, value: string, { reason, ...output }: Output & Reason) => {
      const taxId = { country, value };
      const changed = await withOperator('accounts', ({ setTaxIdAsOperator }, environment) =>
        setTaxIdAsOperator(environment, account, taxId, reason),
      );
      print(output, changed, () => `${changed.email} has the tax id ${value} of ${country}`);
    });
  addChange(
    command,
    'remove-tax-id',
    'remove the tax id of an account',
    ({ setTaxIdAsOperator }) =>
      (environment, account, reason) =>
        setTaxIdAsOperator(environment, account, null, reason),
    ({ email }) => `${email} has no tax id`,
  );
  withJson(command.command('audit').description('list what was done to an account, by whom and why, newest first'))
    .argument('<account>', whichAccount)
    .option('--limit <n>', 'at most this many entries', limit, 50)
    .action((account: string, { limit: most, ...output }: Output & { limit: number }) =>
      showAudit(output, { account, limit: most }),
    );
  withJson(command.command('verify-email').description('mark the e-mail address of an account as verified'))
    .argument('<email>', 'e-mail address of the account')
    .action(async (email: string, output: Output) => {
      const account = await withOperator('accounts', ({ verifyEmailAsOperator }, environment) =>
        verifyEmailAsOperator(environment, email),
      );
      print(output, account, () => `${account.email} is verified (from the next log-in or refresh on)`);
    });
  withJson(command.command('erase').description('have an account and the personal data of its holder erased'))
    .argument('<account>', 'id of the account', accountId)
    .option('--days <n>', 'days until then, in which the holder can withdraw it', days, 7)
    .action(async (id: string, { days: until, ...output }: Output & { days: number }) => {
      const erasure = await withOperator('accounts', async ({ eraseAsOperator }, environment) => ({
        accountId: id,
        eraseAt: await eraseAsOperator(environment, id, until),
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
  withJson(
    command.command('announce').description('publish the state of all accounts again, for copies in services'),
  ).action(async (output: Output) => {
    const accounts = await withOperator('accounts', ({ announceAccounts }, environment) =>
      announceAccounts(environment),
    );
    print(output, { accounts }, () => counted(accounts, 'account is announced', 'accounts are announced'));
  });
  return command;
}

function described(found: readonly FoundData[]): string {
  if (found.length === 0) return 'Nothing of the holder of this account is left.';
  const rows = found.map(({ where, place, rows }) => [where, place, rows]);
  return table([['WHERE', 'PLACE', 'ROWS'], ...rows]);
}

const whichAccount = 'id or e-mail address of the account';
const whyForAudit = 'why, for the audit log';

interface Reason {
  readonly reason: string;
}

/** Adds a command that changes an account. The audit log stores its reason. */
function addChange<Changed extends KnownAccount>(
  command: Command,
  verb: string,
  description: string,
  workOf: (
    accounts: Operator<'accounts'>,
  ) => (environment: Environment, account: string, reason: string) => Promise<Changed>,
  done: (changed: Changed) => string,
): void {
  withJson(command.command(verb).description(description))
    .argument('<account>', whichAccount)
    .requiredOption('--reason <text>', whyForAudit, textOf(500))
    .action(async (account: string, { reason, ...output }: Output & Reason) => {
      const changed = await withOperator('accounts', (accounts, environment) =>
        workOf(accounts)(environment, account, reason),
      );
      print(output, changed, () => done(changed));
    });
}

function stateOf({ blockedAt, eraseAt, emailVerified }: KnownAccount): string {
  const states = [
    ...(blockedAt === null ? [] : ['blocked']),
    ...(eraseAt === null ? [] : ['to be erased']),
    ...(emailVerified ? [] : ['unverified']),
  ];
  return states.join(', ');
}

function listedAccounts(accounts: readonly KnownAccount[]): string {
  if (accounts.length === 0) return 'No account begins like this.';
  const rows = accounts.map((account) => [
    account.email,
    account.name,
    stateOf(account),
    account.scopes.join(' '),
    account.createdAt.toISOString(),
    account.accountId,
  ]);
  return table([['EMAIL', 'NAME', 'STATE', 'SCOPES', 'REGISTERED', 'ACCOUNT'], ...rows]);
}

function shownAccount(account: KnownAccount): string {
  const rows: (readonly [string, string | undefined])[] = [
    ['account', account.accountId],
    ['e-mail', `${account.email}${account.emailVerified ? '' : ' (not verified)'}`],
    ['new e-mail', account.pendingEmail ?? undefined],
    ['name', account.name],
    ['language', account.locale ?? undefined],
    ['tax id', account.taxId === null ? undefined : `${account.taxId.value} of ${account.taxId.country}`],
    ['scopes', account.scopes.length === 0 ? undefined : account.scopes.join(' ')],
    ['registered', account.createdAt.toISOString()],
    ['blocked since', account.blockedAt?.toISOString()],
    ['erased at', account.eraseAt?.toISOString()],
  ];
  return list(rows.filter(([, value]) => value !== undefined));
}

function listedSessions(sessions: readonly KnownSession[]): string {
  if (sessions.length === 0) return 'The account has no session.';
  const rows = sessions.map(({ sessionId, createdAt, lastUsedAt, address, userAgent }) => [
    sessionId,
    createdAt.toISOString(),
    lastUsedAt.toISOString(),
    address,
    userAgent,
  ]);
  return table([['SESSION', 'LOGGED IN', 'LAST USED', 'ADDRESS', 'USER AGENT'], ...rows]);
}
