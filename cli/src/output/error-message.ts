// Explains the error that ended a command in one line, with the remedy.
import { BrokerUnavailableError } from '@shop/shared/events';
import { ConfigError, StartError, toReason } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';

/** SQLSTATE or system error → its meaning for the operator. `START` stands for the command that starts the shop. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the database does not answer: is it started?',
  ENOTFOUND: 'the host of the database is not known: check DATABASE_URL',
  EAI_AGAIN: 'the host of the database is not known: check DATABASE_URL',
  ETIMEDOUT: 'the database does not answer: is it started?',
  '28P01': 'the database refuses the password: check DATABASE_URL',
  '28000': 'the database refuses the user: check DATABASE_URL',
  '3D000': 'there is no such database: run START once, or check DATABASE_URL',
  '42P01': 'a table is missing: run START, or src/migrate.ts of each service',
  '42704': 'a role is missing: run START once on this database',
  '22023': 'a role is missing: run START once on this database',
  '42703': 'a column is missing: run START, or src/migrate.ts of each service',
  '53100': 'the disk of the database is full',
  ENOSPC: 'the disk is full',
};

export function errorMessage(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return error.message;
  const closer = `${operatorCommand('examine')} shows more`;
  if (error instanceof BrokerUnavailableError) return `${error.message}: is it started? ${closer}`;
  const { code, message } = firstOf(error);
  const [line = ''] = message.split('\n');
  const meaning = meanings[code]?.replace('START', operatorCommand('start'));
  return meaning === undefined ? `failed: ${line || code}; ${closer}` : `${meaning} (${line || code}); ${closer}`;
}

/** Returns the first error. When several addresses were tried, the error is an AggregateError without a message. */
function firstOf(error: unknown): { code: string; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return firstOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: '', message: toReason(error) };
  return { code: 'code' in error ? String(error.code) : '', message: error.message };
}
