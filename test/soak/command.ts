// The command line of a soak. It exits with 0 without a violation, with 1 otherwise, and with 2 for wrong arguments.
import { parseArgs } from 'node:util';
import type { SoakOptions } from './soak.ts';
import type { SoakState } from './state.ts';

const usage = 'npm run soak -- [--hours N] [--seed S] [--folder F] [--clusters]';

/**
 * @param run runs the soak
 * @returns the exit code
 */
export async function soakCommand(
  given: readonly string[],
  run: (options: SoakOptions) => Promise<SoakState>,
): Promise<number> {
  const { values } = parseArgs({
    args: [...given],
    options: {
      hours: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      folder: { type: 'string' },
      clusters: { type: 'boolean', default: false },
    },
  });
  const [hours, seed] = [Number(values.hours), Number(values.seed)];
  if (!(hours > 0) || !Number.isSafeInteger(seed) || seed < 0 || seed > 99_999_999) {
    process.stderr.write(`${usage}: N is positive, S a whole number below 100,000,000\n`);
    return 2;
  }
  const { clusters, folder = `.data/soak-${seed}${clusters ? '-clusters' : ''}` } = values;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const ending = new AbortController();
  // A signal may arrive twice: from the terminal, and from npm, which passes it on.
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (!ending.signal.aborted) print('The soak ends, and another start repeats the round in progress.');
      ending.abort();
    });
  const { violations } = await run({ hours, seed, folder, clusters, signal: ending.signal, print });
  return violations.length === 0 ? 0 : 1;
}
