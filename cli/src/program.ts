// All commands of the command line as one tree, from which help, usage and completion are made.
import { Command } from 'commander';
import { backupCommand, restoreCommand } from './backup-command.ts';
import { completionCommand } from './completion-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { eventsCommand } from './events-command.ts';
import { keysCommand } from './keys-command.ts';
import { ordersCommand } from './orders-command.ts';
import { productsCommand } from './products-command.ts';
import { seedCommand } from './seed-command.ts';
import { staffCommand } from './staff-command.ts';
import { statusCommand } from './status-command.ts';
import { stockCommand } from './stock-command.ts';
import { traceCommand } from './trace-command.ts';

/** Wrong arguments make any of the commands throw a CommanderError after one line and the usage. */
export function shopProgram(): Command {
  const program = new Command('npm run shop --')
    .description('Look after the shop of this folder, running or stopped.')
    .addHelpText(
      'after',
      `
The shop is found through its data folder (SHOP_DATA_DIR, .data in the checkout when unset), or by DATABASE_URL.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 done but for what is reported.`,
    );
  for (const command of [
    statusCommand(),
    doctorCommand(),
    productsCommand(),
    seedCommand(),
    ordersCommand(),
    traceCommand(),
    stockCommand(),
    eventsCommand(),
    staffCommand(),
    keysCommand(),
    backupCommand(),
    restoreCommand(),
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
