// The command line as data: commands, arguments, options and exit codes.
import type { Node } from '@shop/shared/contract';
import type { Command, Option } from 'commander';
import { exitCodes } from '../../cli/src/output/exit-codes.ts';
import { shopProgram } from '../../cli/src/program.ts';

const program = await shopProgram();

/** The words of a command, or `shop` for the options of all commands → command. And `exitCodes`. */
export function readCommands(): Record<string, Node> {
  return Object.fromEntries([...commandsOf(program, []), ['exitCodes', { ...exitCodes }]]);
}

function commandsOf(command: Command, path: readonly string[]): [string, Node][] {
  const names = [path.join(' '), ...command.aliases().map((alias) => [...path.slice(0, -1), alias].join(' '))];
  const own = names.map((name): [string, Node] => [name === '' ? 'shop' : name, described(command)]);
  return [...own, ...command.commands.flatMap((each) => commandsOf(each, [...path, each.name()]))];
}

function described(command: Command): Node {
  return {
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      variadic: argument.variadic,
      ...valuesOf(argument.argChoices, argument.defaultValue),
    })),
    options: Object.fromEntries(command.options.flatMap(toNames).map(([name, option]) => [name, optionOf(option)])),
  };
}

/** The long and the short name of an option. */
function toNames(option: Option): [string, Option][] {
  return [option.long, option.short]
    .filter((name) => name !== undefined && name !== null)
    .map((name) => [name, option]);
}

function optionOf(option: Option): Node {
  const value = option.required ? 'required' : option.optional ? 'optional' : 'none';
  return {
    value,
    required: option.mandatory,
    variadic: option.variadic,
    ...valuesOf(option.argChoices, option.defaultValue),
  };
}

function valuesOf(choices: readonly string[] | undefined, value: unknown): Node {
  return {
    ...(choices !== undefined && { enum: [...choices] }),
    ...(value !== undefined && { default: value }),
  };
}
