// The command line of a soak. It exits with 0 without a violation, with 1 otherwise, and with 2 for wrong arguments.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SoakOptions } from './soak.ts';
import type { SoakState } from './state.ts';

/** The hours of one start. The digests of checked orders contain events, which the shop deletes after 72 hours. */
const mostHours = 48;
const usage =
  'npm run soak -- [--hours N] [--seed S] [--folder F] [--clusters]: ' +
  `N is above 0 and at most ${mostHours}, S a whole number below 100,000,000`;

/**
 * @param run runs the soak
 * @returns the exit code
 */
export async function soakCommand(
  given: readonly string[],
  run: (options: SoakOptions) => Promise<SoakState>,
): Promise<number> {
  const settings = settingsOf(given);
  if (settings === undefined) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const ending = new AbortController();
  // A signal may arrive twice: from the terminal, and from npm, which passes it on.
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (!ending.signal.aborted) print('The soak ends, and another start repeats the round in progress.');
      ending.abort();
    });
  // Processes start sooner from compiled sources, and most rounds start some again.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
  const { violations } = await run({ ...settings, signal: ending.signal, print });
  return violations.length === 0 ? 0 : 1;
}

/** Returns undefined for arguments that are unknown or out of their range. */
function settingsOf(given: readonly string[]): Omit<SoakOptions, 'signal' | 'print'> | undefined {
  try {
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
    const { clusters, folder = `.data/soak-${seed}${clusters ? '-clusters' : ''}` } = values;
    const isValid = hours > 0 && hours <= mostHours && Number.isSafeInteger(seed) && seed >= 0 && seed <= 99_999_999;
    return isValid ? { hours, seed, folder, clusters } : undefined;
  } catch {
    return undefined;
  }
}
