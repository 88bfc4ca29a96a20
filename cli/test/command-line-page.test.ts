// docs/command-line.md describes every command and every exit code, and cli/outputs.yaml the output of each with --json.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { exitCodes } from '../src/output/exit-codes.ts';
import { shopProgram } from '../src/program.ts';
import { describedCommands } from './output-contract.ts';

const program = await shopProgram();
const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');

/** The words of all commands without subcommands. */
function leaves(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
}

it.each(leaves(program))('the page of the command line describes %s', (path) => {
  const words = path.split(' ');
  const isAbout = (row: string): boolean => row.startsWith(`| \`${words[0]}`) && row.includes(words.at(-1) ?? '');
  expect(page.split('\n').filter(isAbout)).not.toEqual([]);
});

it('the page of the command line describes every exit code', () => {
  for (const code of Object.values(exitCodes)) expect(page).toMatch(new RegExp(`^\\| ${code} \\| `, 'm'));
});

it('the page of the command line has a schema for the output of each command with --json', () => {
  const printing = (command: Command, path: readonly string[] = []): string[] => [
    ...(command.options.some(({ long }) => long === '--json') ? [path.join(' ')] : []),
    ...command.commands.flatMap((each) => printing(each, [...path, each.name()])),
  ];
  // These print one line after the other.
  const commands = printing(program).filter((name) => !['logs', 'changes tail'].includes(name));
  expect(commands.sort()).toEqual([...describedCommands].sort());
});
