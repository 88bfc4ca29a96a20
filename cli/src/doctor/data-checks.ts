// Checks of the stored data: connections, migrations, clock, currency, keys, events.

import { join } from 'node:path';
import { knownMigrations, localeFault, readLocale, storedCurrency, withClient } from '@shop/shared/database';
import { longestLag } from '@shop/shared/events';
import { StartError } from '@shop/shared/runtime';
import { operatorCommand, type ServiceName, serviceNames } from '@shop/shared/shop';
import type pg from 'pg';
import { errorMessage } from '../output/error-message.ts';
import { counted } from '../output/print.ts';
import { countDeadLetters, readOutboxes } from '../shop/backlog.ts';
import { connectWithin } from '../shop/database.ts';
import type { OpenShop } from '../shop/open-shop.ts';
import { operators } from '../shop/operators.ts';
import { operatorEnvironment } from '../shop/processes.ts';
import { root } from '../shop/root.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Wanted } from './settings.ts';

const oldestPostgres = 150_000;
/**
 * The tolerated clock difference in milliseconds. Tokens allow clocks to differ by some seconds; a larger difference
 * makes log-ins fail without a visible reason.
 */
const skewSeen = 1_000;
const skewHurts = 5_000;

/** Checks the databases. When a database does not respond, only the connections are checked. */
export async function checkStores(shop: OpenShop, wanted: Wanted): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const name of serviceNames) findings.push(...(await checkSchema(shop, name)));
  if (findings.some(({ check, state }) => check.startsWith('database') && state === 'failed')) return findings;
  findings.push(...(await checkCurrency(shop, wanted.currency)));
  findings.push(
    await checkKeys(shop, wanted),
    await checkMailboxes(shop),
    ...(await checkEvents(shop)),
    ...(await checkFeed(shop)),
  );
  return findings;
}

async function checkSchema({ databases, running }: OpenShop, name: ServiceName): Promise<Finding[]> {
  const began = Date.now();
  const look = async (client: pg.Client): Promise<Finding[]> => {
    const { rows } = await client.query<{ version: number; migrated: boolean }>(
      `SELECT current_setting('server_version_num')::int AS version, to_regclass('migrations') IS NOT NULL AS migrated`,
    );
    const { version = 0, migrated = false } = rows[0] ?? {};
    const findings =
      version < oldestPostgres
        ? [
            failed(
              `database ${name}`,
              `PostgreSQL ${Math.floor(version / 10_000)} is too old`,
              'use PostgreSQL 15 or later',
            ),
          ]
        : [ok(`database ${name}`, `answers after ${Date.now() - began} ms`)];
    findings.push(await checkMigrations(client, name, migrated, running !== undefined));
    if (name === serviceNames[0]) findings.push(await checkLocale(client), await checkClock(client));
    return findings;
  };
  return withClient({ url: databases[name], connectWithin }, look).catch((error: unknown) => [
    failed(
      `database ${name}`,
      errorMessage(error).split(';')[0] ?? '',
      `start it, check DATABASE_URL, or run ${operatorCommand('start')} once`,
    ),
  ]);
}

async function checkMigrations(
  client: pg.Client,
  name: ServiceName,
  migrated: boolean,
  runs: boolean,
): Promise<Finding> {
  const known = await knownMigrations(join(root, 'services', name, 'migrations'));
  const applied = migrated ? (await client.query<{ name: string }>('SELECT name FROM migrations')).rows : [];
  const names = applied.map((row) => row.name);
  const pending = known.filter((migration) => !names.includes(migration));
  const unknown = names.filter((migration) => !known.includes(migration));
  if (unknown.length > 0) {
    const remedy = 'use the version of the shop that made them, or a later one';
    return failed(`migrations ${name}`, `this version does not know ${unknown.join(', ')}`, remedy);
  }
  if (pending.length === 0) return ok(`migrations ${name}`, `all ${known.length} are applied`);
  const remedy = `${operatorCommand('start')} applies them; for services that are started alone, run their src/migrate.ts`;
  const detail = `${pending.join(', ')} ${pending.length === 1 ? 'is' : 'are'} not applied yet`;
  return runs
    ? failed(`migrations ${name}`, detail, `stop the shop and start it again: ${remedy}`)
    : warning(`migrations ${name}`, detail, remedy);
}

async function checkLocale(client: pg.Client): Promise<Finding> {
  const found = await readLocale(client);
  const fault = localeFault(found);
  if (fault === undefined) return ok('locale', `${found.encoding}, ${found.locale}`);
  return (fault.isFatal ? failed : warning)('locale', fault.detail, fault.remedy);
}

/** Compares the database's clock with that of this machine. The duration of the query is subtracted. */
async function checkClock(client: pg.Client): Promise<Finding> {
  const sent = Date.now();
  const { rows } = await client.query<{ now: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
  );
  const received = Date.now();
  const theirs = rows[0]?.now ?? 0;
  const skew = Math.round(Math.max(0, sent - theirs, theirs - received));
  const detail = skew === 0 ? 'agrees with that of the database' : `${skew} ms from that of the database`;
  const remedy = 'let both machines follow a time server (timedatectl set-ntp true)';
  if (skew >= skewHurts) return failed('clock', detail, remedy);
  return skew >= skewSeen ? warning('clock', detail, remedy) : ok('clock', detail);
}

async function checkCurrency({ databases }: OpenShop, wanted: string): Promise<Finding[]> {
  const kept = await Promise.all(
    (['orders', 'catalogue'] as const).map(async (name) => {
      // Another check reports a schema that is not migrated yet.
      const code = await withClient({ url: databases[name], connectWithin }, storedCurrency).catch(() => undefined);
      return { name, code: code ?? wanted };
    }),
  );
  const others = kept.filter(({ code }) => code !== wanted);
  if (others.length === 0) return [ok('currency', wanted)];
  return others.map(({ name, code }) =>
    failed(
      'currency',
      `the amounts of ${name} are in ${code}, but SHOP_CURRENCY is ${wanted}`,
      `set SHOP_CURRENCY=${code}`,
    ),
  );
}

async function checkKeys(shop: OpenShop, { jwksUrl }: Wanted): Promise<Finding> {
  if (jwksUrl !== undefined && URL.canParse(jwksUrl)) return ok('signing keys', `those of ${new URL(jwksUrl).host}`);
  try {
    const { checkSigningKeys } = await operators.accounts();
    const keys = await checkSigningKeys(operatorEnvironment(shop, 'accounts'));
    const states = keys.map(({ state }) => state);
    if (states.length === 0) return ok('signing keys', 'none yet; the first start makes them');
    return states.includes('current')
      ? ok('signing keys', `${states.length}, and the secret opens them`)
      : failed('signing keys', 'none of them signs', operatorCommand('shop', 'keys rotate'));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const remedy = 'give accounts the KEY_ENCRYPTION_SECRET that it had, from secrets.json or a backup';
    return failed('signing keys', error.message, remedy);
  }
}

/** Lists accounts of earlier releases with addresses that differ only in the notation of an international domain. */
async function checkMailboxes(shop: OpenShop): Promise<Finding> {
  // Another check reports a schema that is not migrated yet.
  const { sharedMailboxes } = await operators.accounts();
  const shared = await sharedMailboxes(operatorEnvironment(shop, 'accounts')).catch(() => []);
  if (shared.length === 0) return ok('mailboxes', 'each has at most one account');
  const lists = shared.map(({ mailbox, accounts }) => {
    const holders = accounts.map(({ accountId, email }) => `${accountId} (${email})`);
    return `${mailbox} has ${holders.join(' and ')}`;
  });
  const remedy = 'ask the holder which account is to stay, and have the other one erased or moved to another address';
  return warning('mailboxes', lists.join('; '), remedy);
}

async function checkEvents(shop: OpenShop): Promise<Finding[]> {
  const letters = await countDeadLetters(shop);
  if (letters === undefined) {
    return [
      failed('events', 'the broker does not answer', 'start it, or check EVENTS_URL; events wait in the outboxes'),
    ];
  }
  const dead = letters.reduce((sum, each) => sum + each.letters, 0);
  const failing = shop.running === undefined ? [] : letters.filter(({ retrying }) => retrying > 0);
  const waiting = await readOutboxes(shop).catch(() => []);
  const stuck = shop.running === undefined ? [] : waiting.filter(({ lagSeconds }) => lagSeconds >= longestLag);
  const findings = [ok('events', 'the broker answers')];
  if (dead > 0)
    findings.push(
      warning(
        'dead letters',
        counted(dead, 'event was given up', 'events were given up'),
        operatorCommand('shop', 'events dead list'),
      ),
    );
  for (const { consumer, retrying } of failing) {
    const [service = ''] = consumer.split('.');
    const what = counted(retrying, `event of ${consumer} is tried again`, `events of ${consumer} are tried again`);
    findings.push(warning('retries', what, operatorCommand('logs', service)));
  }
  for (const { service, lagSeconds } of stuck) {
    findings.push(
      warning('outbox', `${service} could not publish for ${lagSeconds} s`, operatorCommand('logs', service)),
    );
  }
  return findings;
}

/** Lists the oldest changes of the feed whose predecessor is missing. While the shop is stopped, none arrives. */
async function checkFeed(shop: OpenShop): Promise<Finding[]> {
  if (shop.running === undefined) return [];
  const { heldChanges } = await operators.changes();
  // Another check reports a schema that is not migrated yet.
  const held = await heldChanges(operatorEnvironment(shop, 'changes'), 5).catch(() => undefined);
  if (held === undefined) return [];
  if (held.length === 0) return [ok('feed', 'no change waits for the event before it')];
  const remedy = `${operatorCommand('shop', 'events dead list')} shows events that were given up; see docs/runbooks/changes-held.md`;
  return held.map(({ type, source, subject, missing, seconds }) =>
    warning('feed', `${type} of ${subject} waits for event ${missing} of ${source} since ${seconds} s`, remedy),
  );
}
