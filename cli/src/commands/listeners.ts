// `listeners`: programs of others that consume events of the shop from its broker.
import { type AddedListener, eventTypes, type Listener } from '@shop/shared/events';
import { operatorCommand } from '@shop/shared/shop';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { list, table } from '../output/table.ts';
import { withListeners } from '../shop/listeners.ts';

export function listenersCommand(): Command {
  const command = new Command('listeners');
  withJson(
    command.command('add').description('create a queue and a user that consumes from it; its password is shown once'),
  )
    .argument('<name>', 'name of the listener, such as warehouse', listenerName)
    .addOption(
      new Option('--types <type...>', 'the events that the queue gets, such as order.created.v1')
        .choices(eventTypes)
        .makeOptionMandatory(),
    )
    .action(async (name: string, { types, ...output }: Output & { types: string[] }) => {
      const added = await withListeners((listeners) => listeners.add(name, types));
      print(output, added, () => shown(added));
    });
  withJson(command.command('list').description('list the listeners with the events that wait for them')).action(
    async (output: Output) => {
      const listeners = await withListeners((all) => all.list());
      print(output, listeners, () => listed(listeners));
    },
  );
  withJson(
    command.command('remove').description('delete a listener with its user, and its queue with all events in it'),
  )
    .argument('<name>', 'name of the listener', listenerName)
    .action(async (name: string, output: Output) => {
      await withListeners((listeners) => listeners.remove(name));
      print(output, { name }, () => `${name} is removed`);
    });
  return command;
}

function listenerName(text: string): string {
  if (/^[a-z][a-z0-9_]{0,29}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a lower-case letter and at most 29 of a-z, 0-9 and _.');
}

function shown({ name, types, queue, user, password, url }: AddedListener): string {
  return [
    list([
      ['listener', name],
      ['types', types.join(' ')],
      ['queue', queue],
      ['user', user],
      ['password', password],
      ['url', url],
    ]),
    'The password is not stored and cannot be shown again.',
  ].join('\n');
}

function listed(listeners: readonly Listener[]): string {
  if (listeners.length === 0) {
    return `There are no listeners: add one with "${operatorCommand('shop', 'listeners add NAME --types TYPE…')}".`;
  }
  const rows = listeners.map(({ name, types, backlog }) => [name, backlog, types.join(' ')]);
  return table([['LISTENER', 'BACKLOG', 'TYPES'], ...rows]);
}
