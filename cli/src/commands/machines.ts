// `machines`: programs with scopes of their own, such as the adapter of a payment provider.
import type { Machine, MachineSecret } from '@shop/accounts/operator';
import { type StaffScope, staffScopes } from '@shop/accounts/operator/values';
import { operatorCommand } from '@shop/shared/shop';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { list, table } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';

export function machinesCommand(): Command {
  const command = new Command('machines');
  withJson(command.command('create').description('create a machine; its secret is shown once'))
    .argument('<name>', 'name of the machine, such as payments-adapter', machineName)
    .addOption(new Option('--scope <scope...>', 'scopes of the machine').choices(staffScopes).makeOptionMandatory())
    .action(async (name: string, { scope, ...output }: Output & { scope: StaffScope[] }) => {
      const made = await withOperator('accounts', ({ createMachine }, environment) =>
        createMachine(environment, name, scope),
      );
      print(output, made, () => shown(made));
    });
  withJson(command.command('rotate').description('give a machine a new secret; the former one is valid for 24 hours'))
    .argument('<name>', 'name of the machine')
    .option('--now', 'end the former secret and its access tokens', false)
    .action(async (name: string, { now, ...output }: Output & { now: boolean }) => {
      const made = await withOperator('accounts', ({ rotateMachine }, environment) =>
        rotateMachine(environment, name, now),
      );
      print(output, made, () => shown(made));
    });
  withJson(command.command('revoke').description('end the secrets of a machine and its access tokens'))
    .argument('<name>', 'name of the machine')
    .action(async (name: string, output: Output) => {
      const revoked = await withOperator('accounts', ({ revokeMachine }, environment) =>
        revokeMachine(environment, name),
      );
      print(output, revoked, () => `${name} is revoked`);
    });
  withJson(command.command('list').description('list the machines, revoked ones included')).action(
    async (output: Output) => {
      const machines = await withOperator('accounts', ({ listMachines }, environment) => listMachines(environment));
      print(output, machines, () => listed(machines));
    },
  );
  return command;
}

function machineName(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('It must consist of at most 63 lower-case letters, digits and hyphens.');
}

function shown({ clientId, scopes, clientSecret }: MachineSecret): string {
  return [
    list([
      ['client_id', clientId],
      ['client_secret', clientSecret],
      ['scopes', scopes.join(' ')],
    ]),
    'The secret is not stored and cannot be shown again.',
  ].join('\n');
}

function listed(machines: readonly Machine[]): string {
  if (machines.length === 0) {
    return `There are no machines: create one with "${operatorCommand('shop', 'machines create NAME --scope SCOPE…')}".`;
  }
  const rows = machines.map((machine) => [
    machine.name,
    machine.scopes.join(' '),
    machine.clientId,
    machine.createdAt.toISOString(),
    machine.lastUsedAt?.toISOString(),
    machine.formerSecretUntil?.toISOString(),
    machine.revokedAt?.toISOString(),
  ]);
  return table([['NAME', 'SCOPES', 'CLIENT ID', 'CREATED', 'LAST USED', 'FORMER SECRET UNTIL', 'REVOKED'], ...rows]);
}
