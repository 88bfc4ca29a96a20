// What a command prints: text for people, or with --json one value for programs.
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
