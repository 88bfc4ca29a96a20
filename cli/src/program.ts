// All commands as one tree, from which help, usage and completion are generated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorCommand } from '@shop/shared/runtime';
import { Command } from 'commander';
import { root } from './shop/settings.ts';

/** The commands in the order of the help. The modules of a command are loaded only when the command is needed. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  status: async () => (await import('./commands/status.ts')).statusCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  logs: async () => (await import('./commands/logs.ts')).logsCommand(),
  products: async () => (await import('./commands/products.ts')).productsCommand(),
  seed: async () => (await import('./commands/seed.ts')).seedCommand(),
  orders: async () => (await import('./commands/orders.ts')).ordersCommand(),
  trace: async () => (await import('./commands/trace.ts')).traceCommand(),
  search: async () => (await import('./commands/search.ts')).searchCommand(),
  stock: async () => (await import('./commands/stock.ts')).stockCommand(),
  events: async () => (await import('./commands/events.ts')).eventsCommand(),
  staff: async () => (await import('./commands/staff.ts')).staffCommand(),
  machines: async () => (await import('./commands/machines.ts')).machinesCommand(),
  accounts: async () => (await import('./commands/accounts.ts')).accountsCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  emails: async () => (await import('./commands/emails.ts')).emailsCommand(),
  keys: async () => (await import('./commands/keys.ts')).keysCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/backup.ts')).restoreCommand(),
  'new-service': async () => (await import('./commands/new-service.ts')).newServiceCommand(),
  completion: async () => (await import('./commands/completion.ts')).completionCommand(() => shopProgram()),
};

/**
 * When the arguments are wrong, each command throws a CommanderError after it has printed one line and the usage.
 *
 * @param name the one command that will be called; all commands are loaded when it is absent or no command has it
 */
export async function shopProgram(name = ''): Promise<Command> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const program = new Command(operatorCommand('shop'))
    .version(version, '--version', 'print the version of this checkout')
    .description('Manage the shop of this folder, running or stopped.')
    .addHelpText(
      'after',
      `
The data folder (SHOP_DATA_DIR, default .data in the checkout) or DATABASE_URL selects the shop.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 done except for the reported cases.`,
    );
  const named = Object.entries(commands).filter(([each]) => each === name);
  for (const [, load] of named.length > 0 ? named : Object.entries(commands)) program.addCommand(await load());
  for (const command of withSubcommands(program)) {
    const usage = `Usage: ${command.createHelp().commandUsage(command)}`;
    command.exitOverride().helpCommand(false).showHelpAfterError(usage).allowExcessArguments(false);
  }
  return program;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
