// Runs one command of the command line in this process.
import { CommanderError } from 'commander';
import { exitCodes } from './output/exit-codes.ts';
import { shopProgram } from './program.ts';

/**
 * Runs a command. It writes to the standard output and error of this process, and sets `process.exitCode` unless it
 * succeeds.
 * @param words the name of the command and its arguments
 */
export async function runCommand(words: readonly string[]): Promise<void> {
  try {
    await (await shopProgram(words[0] ?? '')).parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.wrongArguments;
    } else {
      // Loaded here, because the help does not need the modules of the broker.
      const { errorMessage } = await import('./output/error-message.ts');
      process.stderr.write(`${errorMessage(error)}\n`);
      process.exitCode = exitCodes.failed;
    }
  }
}
