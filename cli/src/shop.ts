// `npm run shop -- …`: the operator's command line. docs/command-line.md describes the commands and exit codes.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { root } from './shop/root.ts';

// The modules of a command take about half the processor time when Node.js caches their compiled code. Without write
// access, Node.js compiles them each time.
enableCompileCache(join(root, 'node_modules/.cache/shop'));
const { runCommand } = await import('./run-command.ts');

// The reader of a pipe may close it early, as `head` does. The command then exits without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runCommand(process.argv.slice(2));
