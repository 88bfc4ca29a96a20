// `events`: dead letters with their reasons, and events that are published again.
import { type Queryable, withClient } from '@shop/shared/database';
import { type ReadableDeadLetter, republishEvents, shopTopology } from '@shop/shared/events';
import { StartError } from '@shop/shared/runtime';
import { operatorCommand, serviceNames } from '@shop/shared/shop';
import { Argument, Command, Option } from 'commander';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { list, table, withoutControls } from '../output/table.ts';
import { connectWithin } from '../shop/database.ts';
import { deadLettersPerRead, resolveDeadLetters, withDeadLetters } from '../shop/dead-letters.ts';
import { type OpenShop, withShop } from '../shop/open-shop.ts';
import { moment } from './arguments.ts';

interface Choice extends Output {
  readonly consumer?: string;
}

export function eventsCommand(): Command {
  const command = new Command('events');
  const dead = command.command('dead').description('dead letters: events that a consumer could not handle');
  const about = (name: string, description: string): Command =>
    withJson(dead.command(name).description(description)).addOption(
      new Option('--consumer <name>', 'only dead letters of this consumer').choices(
        Object.keys(shopTopology.consumers),
      ),
    );

  about('list', 'list them with the reason, the oldest first').action(async ({ consumer, ...output }: Choice) => {
    const letters = await withShop((shop) =>
      withDeadLetters(shop, (deadLetters) => deadLetters.list(consumer, deadLettersPerRead)),
    );
    print(output, letters, () => (letters.length === 0 ? 'There are no dead letters.' : listed(letters)));
  });
  about('show', 'show one with its content')
    .argument('<id>', 'id, as listed')
    .action(async (id: string, { consumer, ...output }: Choice) => {
      const letter = await withShop((shop) => withDeadLetters(shop, (deadLetters) => deadLetters.show(id, consumer)));
      if (letter === undefined) throw new StartError(noneOf([id]));
      print(output, letter, () => shown(letter));
    });
  const resolving = (verb: 'replay' | 'discard', description: string, done: string): void => {
    about(verb, description)
      .addArgument(new Argument('[id...]', 'id, as listed'))
      .option('--all', 'all present dead letters')
      .action(
        async (ids: string[], { consumer, all = false, ...output }: Choice & { all?: boolean }, self: Command) => {
          if (all === ids.length > 0) self.error('error: name ids, or give --all');
          const { resolved, unknown } = await withShop((shop) =>
            withDeadLetters(shop, (deadLetters) =>
              resolveDeadLetters(deadLetters, {
                verb,
                ids: all ? undefined : ids,
                consumer,
                perRead: deadLettersPerRead,
              }),
            ),
          );
          const lines = resolved.map((letter) => `${done} ${letter.id} (${letter.consumer})`);
          if (resolved.length > 0 || all) {
            print(output, resolved, () => lines.join('\n') || 'There are no dead letters.');
          }
          if (unknown.length > 0) throw new StartError(noneOf(unknown));
        },
      );
  };
  resolving('replay', 'put them back into the queue of their consumer', 'replayed');
  resolving('discard', 'delete them for good', 'discarded');

  withJson(command.command('republish'))
    .description('publish events of the last three days again, for a queue that was deleted with its events')
    .requiredOption('--since <time>', 'events that were published since this day or time', moment)
    .addOption(
      new Option('--consumer <name>', 'only events that this consumer handles').choices(
        Object.keys(shopTopology.consumers),
      ),
    )
    .action(async ({ since, consumer, ...output }: Choice & { since: string }) => {
      const republished = await withShop((shop) => republish(shop, since, consumer));
      print(output, republished, () =>
        republished.map(({ service, events }) => `${service} publishes ${counted(events, 'event')} again`).join('\n'),
      );
    });
  return command;
}

interface Republished {
  readonly service: string;
  readonly events: number;
}

/** Works as the role that owns each outbox. The relay of the service publishes the events. */
function republish({ databases }: OpenShop, since: string, consumer: string | undefined): Promise<Republished[]> {
  const { consumers } = shopTopology;
  const types = consumer === undefined ? Object.values(consumers).flat() : (consumers[consumer] ?? []);
  return Promise.all(
    serviceNames.map(async (service) => {
      const work = (client: Queryable): Promise<number> => republishEvents(client, types, since);
      return { service, events: await withClient({ url: databases[service], connectWithin }, work) };
    }),
  );
}

function noneOf(ids: readonly string[]): string {
  return ids
    .map(
      (id) =>
        `there is no dead letter ${id}: ${operatorCommand('shop', 'events dead list')} shows those that are there`,
    )
    .join('\n');
}

function listed(letters: readonly ReadableDeadLetter[]): string {
  return table([
    ['CONSUMER', 'ID', 'TYPE', 'ABOUT', 'ATTEMPTS', 'SINCE', 'REASON'],
    ...letters.map(({ consumer, id, type, subject, attempts, deadAt, reason }) => [
      consumer,
      id,
      type,
      subject,
      attempts,
      deadAt,
      reason,
    ]),
  ]);
}

function shown({ content, ...letter }: ReadableDeadLetter): string {
  const rows = [
    ['consumer', letter.consumer],
    ['id', letter.id],
    ['type', letter.type],
    ['about', letter.subject],
    ['request', letter.requestId],
    ['attempts', letter.attempts],
    ['since', letter.deadAt],
    ['reason', letter.reason],
  ] as const;
  return `${list(rows)}\n\n${content.split('\n').map(withoutControls).join('\n')}`;
}
