// `npm run shop -- …`: the operator's command line. Exit code 0: done; 1: it failed; 2: it was asked for wrongly.

import { ConfigError, StartError } from '@shop/shared/runtime';
import { Command, CommanderError } from 'commander';
import { eventsCommand } from './events-command.ts';
import { keysCommand } from './keys-command.ts';
import { seedCommand } from './seed-command.ts';
import { staffCommand } from './staff-command.ts';
import { statusCommand } from './status-command.ts';
import { stockCommand } from './stock-command.ts';
import { traceCommand } from './trace-command.ts';

const program = new Command('npm run shop --')
  .description('Look after the shop of this folder, running or stopped.')
  .addHelpText(
    'after',
    `
The shop is found through its data folder (SHOP_DATA_DIR, .data in the checkout when unset), or by DATABASE_URL.
Exit codes: 0 done, 1 failed, 2 wrong arguments.`,
  );
for (const command of [
  staffCommand(),
  seedCommand(),
  keysCommand(),
  statusCommand(),
  stockCommand(),
  eventsCommand(),
  traceCommand(),
]) {
  program.addCommand(command);
}
for (const command of withSubcommands(program)) {
  const usage = `Usage: ${command.createHelp().commandUsage(command)}`;
  command.exitOverride().helpCommand(false).showHelpAfterError(usage).allowExcessArguments(false);
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`${known ? error.message : `failed: ${String(error).split('\n')[0]}`}\n`);
    process.exitCode = 1;
  }
}
