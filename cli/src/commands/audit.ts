// `audit`: lists the changes of accounts, with their author and reason.
import type { AuditFilter, RecordedEntry } from '@shop/accounts/operator';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';
import { limit, moment } from './arguments.ts';

export function auditCommand(): Command {
  return withJson(new Command('audit'))
    .option('--since <time>', 'entries since this day or time', moment)
    .option('--action <action>', 'entries of this action, such as login-failed')
    .option('--account <account>', 'entries of this account: its id or e-mail address')
    .option('--limit <n>', 'at most this many entries', limit, 50)
    .action((given: AuditFilter & Output) => showAudit(given, given));
}

/** Prints the entries that meet the filter. */
export async function showAudit(output: Output, filter: AuditFilter): Promise<void> {
  const entries = await withOperator('accounts', ({ readAuditLog }, environment) => readAuditLog(environment, filter));
  print(output, entries, () => listed(entries));
}

function listed(entries: readonly RecordedEntry[]): string {
  if (entries.length === 0) return 'The audit log has no such entry.';
  return table([['TIME', 'ACTION', 'ACCOUNT', 'BY', 'REASON', 'DETAIL'], ...entries.map(rowOf)]);
}

function rowOf({ createdAt, action, accountId, email, by, staffId, reason, detail }: RecordedEntry): string[] {
  const details = Object.entries(detail).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [
    createdAt.toISOString(),
    action,
    email ?? accountId ?? '',
    staffId === null ? by : `${by} ${staffId}`,
    reason ?? '',
    details.join(' '),
  ];
}
