// A process that runs commands of the command line one after the other, as started-shop.ts asks for them. A command
// then needs a tenth of the processor time, because its modules are loaded already.
import { runCommand } from '../src/run-command.ts';

export interface HostedCommand {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Milliseconds without a command after which the process ends. */
const idleFor = 10_000;
let idle = setTimeout(() => process.exit(), idleFor);

/** Collects what the process writes to a stream. */
function capture(stream: NodeJS.WriteStream): { text: string } {
  const written = { text: '' };
  stream.write = (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
    written.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(() => done());
    return true;
  };
  return written;
}

process.on('message', async ({ words, environment }: HostedCommand) => {
  clearTimeout(idle);
  process.env = { ...environment };
  // COLUMNS gives the output the width of a terminal.
  Object.assign(process.stdout, {
    columns: environment.COLUMNS === undefined ? undefined : Number(environment.COLUMNS),
  });
  const [output, complaints] = [capture(process.stdout), capture(process.stderr)];
  await runCommand(words);
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  process.send?.({ code, output: output.text, complaints: complaints.text });
  idle = setTimeout(() => process.exit(), idleFor);
});
process.on('disconnect', () => process.exit());
