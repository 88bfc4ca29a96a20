// `webhooks`: shows operators the webhooks of all owners, and why an endpoint got a change or not.
import type { ExplainedDelivery, ListedWebhook } from '@shop/changes/operator';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { list, table, withoutControls } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';
import { accountId, idOf, limit, moment } from './arguments.ts';

const webhookId = idOf('a webhook');
const changeId = idOf('a change');

export function webhooksCommand(): Command {
  const command = new Command('webhooks');
  withJson(command.command('list').description('list the webhooks, the oldest first'))
    .option('--owner <id>', 'only those of an account or a machine', accountId)
    .action(async ({ owner, ...output }: Output & { owner?: string }) => {
      const webhooks = await withOperator('changes', ({ listWebhooks }, environment) =>
        listWebhooks(environment, owner),
      );
      print(output, webhooks, () => listed(webhooks));
    });
  withJson(command.command('show').description('show a webhook'))
    .argument('<id>', 'id of the webhook', webhookId)
    .action(async (id: string, output: Output) => {
      const webhook = await withOperator('changes', ({ showWebhook }, environment) => showWebhook(environment, id));
      print(output, webhook, () => shown(webhook));
    });
  withJson(command.command('attempts').description('list the newest requests to an endpoint, the newest first'))
    .argument('<id>', 'id of the webhook', webhookId)
    .option('--limit <number>', 'how many', limit, 50)
    .action(async (id: string, { limit: most, ...output }: Output & { limit: number }) => {
      const attempts = await withOperator('changes', ({ listAttempts }, environment) =>
        listAttempts(environment, id, most),
      );
      print(output, attempts, () => attemptsTable(attempts));
    });
  withJson(command.command('replay').description('send the changes since a time again'))
    .argument('<id>', 'id of the webhook', webhookId)
    .requiredOption('--from <time>', 'the day or the time of the first change', moment)
    .action(async (id: string, { from, ...output }: Output & { from: string }) => {
      const webhook = await withOperator('changes', ({ replayWebhook }, environment) =>
        replayWebhook(environment, id, from),
      );
      print(output, webhook, () => shown(webhook));
    });
  withJson(command.command('pause').description('send nothing until it continues'))
    .argument('<id>', 'id of the webhook', webhookId)
    .action(async (id: string, output: Output) => {
      const webhook = await withOperator('changes', ({ pauseWebhook }, environment) => pauseWebhook(environment, id));
      print(output, webhook, () => shown(webhook));
    });
  withJson(command.command('resume').description('continue where it stood, when its endpoint has answered a ping'))
    .argument('<id>', 'id of the webhook', webhookId)
    .action(async (id: string, output: Output) => {
      const webhook = await withOperator('changes', ({ resumeWebhook }, environment) => resumeWebhook(environment, id));
      print(output, webhook, () => shown(webhook));
    });
  withJson(command.command('why').description('explain for each webhook why it got a change or not'))
    .argument('<change>', 'id of the change', changeId)
    .action(async (id: string, output: Output) => {
      const deliveries = await explain(id);
      print(output, deliveries, () => explained(deliveries));
    });
  return command;
}

/** The scopes of owners are those that accounts has, unless another identity provider grants them. */
function explain(id: string): Promise<ExplainedDelivery[]> {
  return withOperator('changes', ({ explainChange, scopesFrom }, environment) =>
    explainChange(
      environment,
      id,
      scopesFrom(environment, (ownerIds) =>
        withOperator('accounts', ({ readScopesAsOperator }, ofAccounts) => readScopesAsOperator(ofAccounts, ownerIds)),
      ),
    ),
  );
}

function listed(webhooks: readonly ListedWebhook[]): string {
  if (webhooks.length === 0) return 'There are no webhooks.';
  const rows = webhooks.map((webhook) => [
    webhook.id,
    webhook.status,
    withoutControls(webhook.url),
    webhook.types.join(' '),
    webhook.behind,
    webhook.parked,
    webhook.failingSince,
    webhook.ownerId,
  ]);
  return table([['WEBHOOK', 'STATUS', 'URL', 'TYPES', 'BEHIND', 'PARKED', 'FAILING SINCE', 'OWNER'], ...rows]);
}

function shown(webhook: ListedWebhook): string {
  return list([
    ['webhook', webhook.id],
    ['owner', `${webhook.isMachine ? 'machine' : 'account'} ${webhook.ownerId}`],
    ['scopes', webhook.scopes.join(' ')],
    ['url', withoutControls(webhook.url)],
    ['types', webhook.types.join(' ')],
    ['collapse', webhook.collapse ? 'yes' : 'no'],
    ['status', webhook.status],
    ['behind', webhook.behind],
    ['parked', webhook.parked],
    ['failures', webhook.failures],
    ['failing since', webhook.failingSince],
    ['next attempt', webhook.nextAttemptAt],
    ['created', webhook.createdAt],
  ]);
}

type Attempts = ExplainedDelivery['attempts'];

function attemptsTable(attempts: Attempts): string {
  if (attempts.length === 0) return 'There are no attempts.';
  const rows = attempts.map(({ startedAt, kind, messageId, status, milliseconds, error }) => [
    startedAt,
    kind,
    messageId,
    status,
    `${milliseconds} ms`,
    error === undefined ? 'done' : withoutControls(error),
  ]);
  return table([['TIME', 'KIND', 'MESSAGE', 'STATUS', 'DURATION', 'RESULT'], ...rows]);
}

function explained(deliveries: readonly ExplainedDelivery[]): string {
  if (deliveries.length === 0) return 'There are no webhooks.';
  const rows = deliveries.map(({ webhookId: id, url, status, state, attempts, nextAttemptAt }) => [
    id,
    withoutControls(url),
    status,
    state,
    attempts.length,
    attempts.at(-1)?.error === undefined ? undefined : withoutControls(attempts.at(-1)?.error ?? ''),
    nextAttemptAt,
  ]);
  return table([['WEBHOOK', 'URL', 'STATUS', 'CHANGE', 'ATTEMPTS', 'LAST ERROR', 'NEXT ATTEMPT'], ...rows]);
}
