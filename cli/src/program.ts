// All commands as one tree, from which help, usage and completion are generated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorCommand } from '@shop/shared/shop';
import { Command } from 'commander';
import { root } from './shop/root.ts';

/**
 * The commands in the order of the help: the description of each, and its modules, which are loaded only when the
 * command is needed.
 */
const commands: Readonly<Record<string, readonly [description: string, load: () => Promise<Command>]>> = {
  status: [
    'show the processes, their readiness and the waiting events; exit code 1 if a process is not ready',
    async () => (await import('./commands/status.ts')).statusCommand(),
  ],
  doctor: [
    'check everything that the shop needs, and state what to do; exit code 1 if a check fails',
    async () => (await import('./commands/doctor.ts')).doctorCommand(),
  ],
  logs: ['show the newest lines of the logs', async () => (await import('./commands/logs.ts')).logsCommand()],
  products: [
    'import products from a file, export them to one, and list the changes of a product',
    async () => (await import('./commands/products.ts')).productsCommand(),
  ],
  seed: ['add realistic products to the catalogue', async () => (await import('./commands/seed.ts')).seedCommand()],
  orders: ['list, show, advance and cancel orders', async () => (await import('./commands/orders.ts')).ordersCommand()],
  shipping: ['manage the shipping methods', async () => (await import('./commands/settings.ts')).shippingCommand()],
  taxes: ['manage the tax rates', async () => (await import('./commands/settings.ts')).taxesCommand()],
  discounts: [
    'manage the discounts, with and without a code',
    async () => (await import('./commands/settings.ts')).discountsCommand(),
  ],
  returns: [
    'list, show, approve, refuse and receive the returns of customers',
    async () => (await import('./commands/returns.ts')).returnsCommand(),
  ],
  invoices: [
    'list and show invoices and credit notes, and prove that their numbers have no gap',
    async () => (await import('./commands/invoices.ts')).invoicesCommand(),
  ],
  trace: [
    'show the history of an order, its stock and its e-mails',
    async () => (await import('./commands/trace.ts')).traceCommand(),
  ],
  search: ['change the language of the search', async () => (await import('./commands/search.ts')).searchCommand()],
  stock: ['verify the stock, and see who holds it', async () => (await import('./commands/stock.ts')).stockCommand()],
  events: [
    'handle the events between the services',
    async () => (await import('./commands/events.ts')).eventsCommand(),
  ],
  changes: [
    'show what changes in the shop as it happens',
    async () => (await import('./commands/changes.ts')).changesCommand(),
  ],
  webhooks: [
    'list, show, pause and replay webhooks, and explain why one got a change or not',
    async () => (await import('./commands/webhooks.ts')).webhooksCommand(),
  ],
  listeners: [
    'manage programs that consume events from the broker',
    async () => (await import('./commands/listeners.ts')).listenersCommand(),
  ],
  staff: ['grant and revoke the scopes of staff', async () => (await import('./commands/staff.ts')).staffCommand()],
  machines: [
    'manage programs that log in with a client secret',
    async () => (await import('./commands/machines.ts')).machinesCommand(),
  ],
  accounts: [
    'look after the accounts of customers',
    async () => (await import('./commands/accounts.ts')).accountsCommand(),
  ],
  audit: [
    'list what was done to accounts, by whom and why, newest first',
    async () => (await import('./commands/audit.ts')).auditCommand(),
  ],
  emails: ['look after the e-mails to customers', async () => (await import('./commands/emails.ts')).emailsCommand()],
  keys: [
    'rotate and revoke the keys that sign access tokens',
    async () => (await import('./commands/keys.ts')).keysCommand(),
  ],
  backup: [
    'copy the whole shop to a new folder, whether it runs or not',
    async () => (await import('./commands/backup.ts')).backupCommand(),
  ],
  restore: ['restore a backup into an empty shop', async () => (await import('./commands/backup.ts')).restoreCommand()],
  'new-service': [
    'write a new service that works into the checkout',
    async () => (await import('./commands/new-service.ts')).newServiceCommand(),
  ],
  completion: [
    'print the completion script of a shell',
    async () => (await import('./commands/completion.ts')).completionCommand(() => shopProgram()),
  ],
};

/**
 * Creates the command line. For wrong arguments, each command throws a CommanderError after it has printed one line and
 * the usage.
 *
 * @param name the one command that will be called; the others have only their descriptions, for the help. Without it,
 * all commands are loaded
 */
export async function shopProgram(name?: string): Promise<Command> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const program = new Command(operatorCommand('shop'))
    .version(version, '--version', 'print the version of this checkout')
    .description('Manage the shop of this folder, running or stopped.')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText(
      'after',
      `
The data folder (SHOP_DATA_DIR, default .data in the checkout) or DATABASE_URL selects the shop.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 done except for the reported cases.`,
    );
  for (const [each, [description, load]] of Object.entries(commands)) {
    const command = name === undefined || name === each ? await load() : new Command(each);
    program.addCommand(command.description(description));
  }
  for (const command of withSubcommands(program)) {
    const usage = `Usage: ${command.createHelp().commandUsage(command)}`;
    command.exitOverride().helpCommand(false).showHelpAfterError(usage).allowExcessArguments(false);
  }
  return program;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
