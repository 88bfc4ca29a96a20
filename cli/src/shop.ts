// `npm run shop -- …`: the operator's command line. docs/command-line.md describes all of it, exit codes included.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { exitCodes } from './output/exit-codes.ts';
import { root } from './shop/root.ts';

// The modules of a command take about half the processor time when Node.js keeps them compiled. Where it cannot write,
// it compiles them each time.
enableCompileCache(join(root, 'node_modules/.cache/shop'));
const { shopProgram } = await import('./program.ts');

// The reader of a pipe may close it early, as `head` does. The command then ends without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await (await shopProgram(process.argv[2] ?? '')).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.wrongArguments;
  } else {
    // Loaded here, because the help needs no module of the broker.
    const { errorMessage } = await import('./output/error-message.ts');
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exitCode = exitCodes.failed;
  }
}
