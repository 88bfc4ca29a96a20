// `changes`: shows the feed of changes as it happens.
import type { Kind } from '@shop/changes/operator/values';
import { kinds } from '@shop/changes/operator/values';
import { Command, Option } from 'commander';
import { withOperator } from '../shop/operators.ts';

interface TailOptions {
  readonly types: readonly Kind[];
  readonly json?: boolean;
}

export function changesCommand(): Command {
  const command = new Command('changes');
  command
    .command('tail')
    .description('print each change as it happens, until Ctrl-C')
    .addOption(new Option('--types <type...>', 'only changes of these resources').choices(kinds).default(kinds, 'all'))
    .option('--json', 'print each change as one line of JSON')
    .action(async ({ types, json }: TailOptions) => {
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
      await withOperator('changes', ({ tailChanges }, environment) =>
        tailChanges(
          environment,
          types,
          (changes) => {
            for (const change of changes)
              process.stdout.write(`${json === true ? JSON.stringify(change) : lineOf(change)}\n`);
          },
          stop.signal,
        ),
      );
    });
  return command;
}

interface Shown {
  readonly time: string;
  readonly type: string;
  readonly resource: string;
  readonly id: string;
}

function lineOf({ time, type, resource, id }: Shown): string {
  return [time, type.padEnd(24), resource, id].join('  ');
}
