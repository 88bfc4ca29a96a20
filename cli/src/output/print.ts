// Prints the result of a command: text for people, or with --json one value for programs.
import type { Command } from 'commander';

export interface Output {
  readonly json?: boolean;
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON');
}

export function print({ json }: Output, value: unknown, forPeople: () => string): void {
  process.stdout.write(`${json === true ? JSON.stringify(value) : forPeople()}\n`);
}

/** Returns a number with its noun: `1 product`, `2 products`. A verb may follow the noun. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
