// All commands as one tree, from which help, usage and completion are generated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorCommand } from '@shop/shared/runtime';
import { Command } from 'commander';
import { accountsCommand } from './commands/accounts.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand, restoreCommand } from './commands/backup.ts';
import { completionCommand } from './commands/completion.ts';
import { doctorCommand } from './commands/doctor.ts';
import { emailsCommand } from './commands/emails.ts';
import { eventsCommand } from './commands/events.ts';
import { keysCommand } from './commands/keys.ts';
import { logsCommand } from './commands/logs.ts';
import { machinesCommand } from './commands/machines.ts';
import { newServiceCommand } from './commands/new-service.ts';
import { ordersCommand } from './commands/orders.ts';
import { productsCommand } from './commands/products.ts';
import { searchCommand } from './commands/search.ts';
import { seedCommand } from './commands/seed.ts';
import { staffCommand } from './commands/staff.ts';
import { statusCommand } from './commands/status.ts';
import { stockCommand } from './commands/stock.ts';
import { traceCommand } from './commands/trace.ts';
import { root } from './shop/settings.ts';

/** When the arguments are wrong, each command throws a CommanderError after it has printed one line and the usage. */
export function shopProgram(): Command {
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
  for (const command of [
    statusCommand(),
    doctorCommand(),
    logsCommand(),
    productsCommand(),
    seedCommand(),
    ordersCommand(),
    traceCommand(),
    searchCommand(),
    stockCommand(),
    eventsCommand(),
    staffCommand(),
    machinesCommand(),
    accountsCommand(),
    auditCommand(),
    emailsCommand(),
    keysCommand(),
    backupCommand(),
    restoreCommand(),
    newServiceCommand(),
    completionCommand(() => program),
  ]) {
    program.addCommand(command);
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
