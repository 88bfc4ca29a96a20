// `emails`: shows the e-mails of an order, and sends one again.
import type { QueuedEmail } from '@shop/notifications/operator';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';
import { emailId, orderId } from './arguments.ts';

export function emailsCommand(): Command {
  const command = new Command('emails');
  withJson(command.command('list').description('list the e-mails about an order, oldest first'))
    .argument('<order>', 'id of the order', orderId)
    .action(async (id: string, output: Output) => {
      const emails = await withOperator('notifications', ({ listEmails }, environment) => listEmails(environment, id));
      print(output, emails, () => listed(emails));
    });
  withJson(
    command
      .command('resend')
      .description('send an e-mail again; one about an order goes to the present address of the account'),
  )
    .argument('<email>', 'id of the e-mail', emailId)
    .action(async (id: string, output: Output) => {
      const email = await withOperator('notifications', ({ resendEmail }, environment) => resendEmail(environment, id));
      print(output, email, () => `${email.kind} is sent again to ${email.address}`);
    });
  return command;
}

function listed(emails: readonly QueuedEmail[]): string {
  if (emails.length === 0) return 'There are no e-mails about this order.';
  const rows = emails.map(({ id, kind, status, address, createdAt, settledAt, problem }) => [
    id,
    kind,
    status,
    address,
    createdAt.toISOString(),
    settledAt?.toISOString(),
    problem,
  ]);
  return table([['E-MAIL', 'KIND', 'STATUS', 'ADDRESS', 'CREATED', 'SETTLED', 'PROBLEM'], ...rows]);
}
