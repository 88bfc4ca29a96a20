// Holds the output of commands with --json to cli/outputs.yaml.
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const contract = parse(readFileSync(new URL('../outputs.yaml', import.meta.url), 'utf8')) as {
  readonly commands: Readonly<Record<string, object>>;
};

/** The commands whose output has a schema. */
export const describedCommands: readonly string[] = Object.keys(contract.commands);

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ ...contract, $id: 'outputs' });
const compiled = new Map<string, ValidateFunction>();

/**
 * Checks what a command has printed. Does nothing for a command without --json, and for one that printed nothing.
 * @throws Error naming the members that deviate from the contract
 */
export function checkOutput(parameters: readonly string[], output: string): void {
  if (!parameters.includes('--json') || output === '') return;
  const command = describedCommands
    .filter((each) => `${parameters.join(' ')} `.startsWith(`${each} `))
    .sort((a, b) => b.length - a.length)[0];
  if (command === undefined) return;
  const validate = compiled.get(command) ?? ajv.compile({ $ref: `outputs#/commands/${encodeURIComponent(command)}` });
  compiled.set(command, validate);
  if (!validate(JSON.parse(output)))
    throw new Error(
      `the output of ${command} deviates from cli/outputs.yaml: ${ajv.errorsText(validate.errors)}\n${output}`,
    );
}
