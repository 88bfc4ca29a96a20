// Lets operators see, pause, continue and replay the webhooks of all owners. No service has to run.
import type { Database } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { type Environment, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { operatorCommand } from '@shop/shared/shop';
import { readDatabaseConfig, readScopesConfig } from '../config.ts';
import { findChange } from '../feed/find-change.ts';
import type { components } from '../generated.ts';
import { findAttempts, toAttemptView } from '../webhooks/attempts.ts';
import { unverified } from '../webhooks/change-webhook.ts';
import { explainDeliveries, toDeliveryView } from '../webhooks/explain-deliveries.ts';
import { type CallerScopes, openPresentScopes, type PresentScopes, toScopesOf } from '../webhooks/present-scopes.ts';
import { replaySince } from '../webhooks/replay.ts';
import { toWebhookView, type Webhook } from '../webhooks/webhook.ts';
import { findWebhook, findWebhooks, lockWebhook, saveWebhook } from '../webhooks/webhook-store.ts';

type Attempt = components['schemas']['Attempt'];

export interface ListedWebhook extends ReturnType<typeof toWebhookView> {
  readonly ownerId: string;
  readonly isMachine: boolean;
  readonly scopes: readonly string[];
  /** The failed requests since the last success. */
  readonly failures: number;
  readonly nextAttemptAt: string;
  /** The changes after the cursor, including those that the webhook does not follow. */
  readonly behind: number;
  /** The subjects of which a change failed. */
  readonly parked: number;
}

export interface ExplainedDelivery extends ReturnType<typeof toDeliveryView> {
  readonly ownerId: string;
}

/** Returns the webhooks of an owner, or all of them, the oldest first. */
export function listWebhooks(environment: Environment, ownerId?: string): Promise<ListedWebhook[]> {
  return withChanges(environment, async (database) =>
    Promise.all((await findWebhooks(database.pool, ownerId)).map((webhook) => toListed(database, webhook))),
  );
}

/** @throws StartError when there is no such webhook */
export function showWebhook(environment: Environment, id: string): Promise<ListedWebhook> {
  return withChanges(environment, async (database) => toListed(database, await requireWebhook(database, id)));
}

/**
 * Returns the newest attempts, the newest first.
 * @throws StartError when there is no such webhook
 */
export function listAttempts(environment: Environment, id: string, limit: number): Promise<Attempt[]> {
  return withChanges(environment, async (database) => {
    await requireWebhook(database, id);
    return (await findAttempts(database.pool, id, limit)).map(toAttemptView);
  });
}

/** @throws StartError when there is no such webhook, or changes since the time are no longer kept */
export function replayWebhook(environment: Environment, id: string, from: string): Promise<ListedWebhook> {
  return change(environment, id, (webhook, tx) => replaySince(tx, webhook, new Date(from)));
}

/** @throws StartError when there is no such webhook */
export function pauseWebhook(environment: Environment, id: string): Promise<ListedWebhook> {
  return change(environment, id, () => ({ status: 'paused', isPingDue: false }));
}

/**
 * Lets a webhook continue when its endpoint has answered a ping.
 * @throws StartError when there is no such webhook
 */
export function resumeWebhook(environment: Environment, id: string): Promise<ListedWebhook> {
  return change(environment, id, ({ status }) => (status === 'active' ? {} : unverified()));
}

/**
 * Returns how the scopes of owners are read in this shop: from accounts, or as their last tokens had them.
 * @param environment the variables of changes, of which WEBHOOK_SCOPES is read
 */
export function scopesFrom(
  environment: Environment,
  readAccounts: (ownerIds: readonly string[]) => Promise<readonly CallerScopes[]>,
): PresentScopes {
  if (readScopesConfig(environment).webhookScopes === 'token') return openPresentScopes(undefined);
  return async (ownerIds) => toScopesOf(await readAccounts(ownerIds));
}

/**
 * Returns why each webhook got a change or not.
 * @param presentScopes reads the scopes of the owners
 * @throws StartError when the feed has no such change
 */
export function explainChange(
  environment: Environment,
  changeId: string,
  presentScopes: PresentScopes,
): Promise<ExplainedDelivery[]> {
  return withChanges(environment, async ({ pool }) => {
    const found = await findChange(pool, changeId);
    if (found === undefined) {
      throw new StartError(`the feed has no change ${changeId}: changes are kept for 7 days`);
    }
    const webhooks = await findWebhooks(pool);
    const scopesOf = await presentScopes(webhooks.map(({ ownerId }) => ownerId));
    const deliveries = await explainDeliveries(pool, found, webhooks, scopesOf);
    return deliveries.map((delivery) => ({ ownerId: delivery.webhook.ownerId, ...toDeliveryView(delivery) }));
  });
}

async function change(
  environment: Environment,
  id: string,
  apply: (webhook: Webhook, tx: Parameters<typeof lockWebhook>[0]) => Partial<Webhook> | Promise<Partial<Webhook>>,
): Promise<ListedWebhook> {
  return withChanges(environment, async (database) => {
    const changed = await database
      .transaction(async (tx) => {
        const webhook = await lockWebhook(tx, undefined, id);
        return saveWebhook(tx, { ...webhook, ...(await apply(webhook, tx)) });
      })
      .catch((error: unknown) => refuse(error, id));
    return toListed(database, changed);
  });
}

/** @throws StartError when there is no such webhook */
function requireWebhook({ pool }: Database, id: string): Promise<Webhook> {
  return findWebhook(pool, undefined, id).catch((error: unknown) => refuse(error, id));
}

/** Says a problem in the terms of the command line. */
function refuse(error: unknown, id: string): never {
  if (!(error instanceof Problem)) throw error;
  if (error.code !== 'not-found') throw new StartError(error.message);
  throw new StartError(
    `there is no webhook ${id}: ${operatorCommand('shop', 'webhooks list')} shows those that are there`,
  );
}

async function toListed({ pool }: Database, webhook: Webhook): Promise<ListedWebhook> {
  const { rows } = await pool.query<{ behind: number; parked: number }>(
    `SELECT (SELECT greatest(head - $2, 0)::int FROM feed) AS behind,
       (SELECT count(*)::int FROM parked_subjects WHERE webhook_id = $1) AS parked`,
    [webhook.id, webhook.position],
  );
  const { behind = 0, parked = 0 } = rows[0] ?? {};
  const { ownerId, isMachine, scopes, failures, nextAttemptAt } = webhook;
  return {
    ...{ ...toWebhookView(webhook), ownerId, isMachine, scopes, failures },
    ...{ nextAttemptAt: nextAttemptAt.toISOString(), behind, parked },
  };
}

function withChanges<Result>(environment: Environment, use: (database: Database) => Promise<Result>): Promise<Result> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'changes webhooks' }, use);
}
