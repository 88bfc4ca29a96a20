// Each change of a setting, in one transaction with the version of all settings, the history and
// the event.
import { refuseFaults } from '@shop/shared/contract';
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { mergePatch } from '@shop/shared/json';
import type { Fault } from '@shop/shared/problem';
import { newId } from '@shop/shared/runtime';
import { toComparedCode } from './discount-code.ts';
import { type DiscountBody, settingFaults, type TaxRateBody, toStoredBody } from './setting-kinds.ts';
import { noSuchSetting, type SettingStore } from './settings.ts';
import { refuseTakenCode, refuseTakenRate } from './unique-settings.ts';

/** The request of a change, for the history and the event. */
export interface SettingCause {
  readonly requestId: string;
  readonly traceparent?: string | undefined;
  /** Undefined for the command line. */
  readonly actorId: string | undefined;
}

/** A setting in a transaction that changes it. */
export interface LockedSetting {
  readonly id: string;
  readonly version: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isArchived: boolean;
}

/** What a change needs of a `SettingStore`. */
type KindOfSetting = Pick<SettingStore, 'kind' | 'members'>;

/**
 * Adds a setting and returns its id. `body` has no faults.
 * @throws Problem 409 when the discount code or the tax rate exists
 */
export async function addSetting(
  tx: Transaction,
  store: KindOfSetting,
  cause: SettingCause,
  body: object,
): Promise<string> {
  const id = newId();
  const version = await nextVersion(tx);
  await writeSetting(tx, store, cause, { id, version, body: toStoredBody(store, body) });
  return id;
}

/**
 * Locks the settings until the transaction ends, and reads one.
 * @throws Problem 404 for a setting of another kind
 */
export async function lockSetting(tx: Transaction, { kind }: SettingStore, id: string): Promise<LockedSetting> {
  const [setting] = await sql<LockedSetting>(
    tx,
    `SELECT id, version, body, archived_at IS NOT NULL AS "isArchived" FROM pricing_settings
     WHERE id = $1 AND kind = $2 FOR UPDATE`,
    [id, kind],
  );
  if (setting === undefined) throw noSuchSetting();
  return setting;
}

/**
 * Applies a merge patch (RFC 7396).
 * @throws Problem 400 when the result is no valid setting, 409 as `addSetting`
 */
export async function patchSetting(
  tx: Transaction,
  store: SettingStore,
  cause: SettingCause,
  present: LockedSetting,
  patch: unknown,
): Promise<void> {
  const merged = mergePatch(present.body, patch);
  const faults = [...boundFaults(present.body, merged as DiscountBody), ...settingFaults(store, merged)];
  refuseFaults(store.check(merged), faults);
  const version = await nextVersion(tx);
  await writeSetting(tx, store, cause, { id: present.id, version, body: toStoredBody(store, merged as object) });
}

/** Archives the setting. Its code can be used by another discount then. */
export async function archiveSetting(
  tx: Transaction,
  { kind }: KindOfSetting,
  cause: SettingCause,
  { id }: LockedSetting,
): Promise<void> {
  const version = await nextVersion(tx);
  await sql(tx, 'UPDATE pricing_settings SET version = $2, archived_at = now(), updated_at = now() WHERE id = $1', [
    id,
    version,
  ]);
  await enterChange(tx, kind, cause, { id, version, body: undefined });
}

/**
 * Increases the version of all settings. Until the transaction ends, every other change waits here, so each one sees
 * the settings that are unique.
 */
async function nextVersion(tx: Transaction): Promise<number> {
  const [row] = await sql<{ version: number }>(
    tx,
    `INSERT INTO pricing_settings_version AS present (version) VALUES (1)
     ON CONFLICT (only_row) DO UPDATE SET version = present.version + 1 RETURNING version`,
  );
  if (row === undefined) throw new Error('the settings have no version');
  return row.version;
}

interface WrittenSetting {
  readonly id: string;
  readonly version: number;
  /** Undefined for an archived setting. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

async function writeSetting(
  tx: Transaction,
  { kind }: Pick<SettingStore, 'kind'>,
  cause: SettingCause,
  { id, version, body = {} }: WrittenSetting,
): Promise<void> {
  const code = kind === 'discount' ? (body as unknown as DiscountBody).code : undefined;
  const compared = code === undefined ? null : toComparedCode(code);
  if (compared !== null) await refuseTakenCode(tx, id, compared);
  if (kind === 'tax-rate') await refuseTakenRate(tx, id, body as unknown as TaxRateBody);
  await sql(
    tx,
    `INSERT INTO pricing_settings (id, kind, version, body, code) VALUES ($1, $2, $3, $4::json, $5)
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, body = excluded.body, code = excluded.code, updated_at = now()`,
    [id, kind, version, JSON.stringify(body), compared],
  );
  await enterChange(tx, kind, cause, { id, version, body });
}

async function enterChange(
  tx: Transaction,
  kind: KindOfSetting['kind'],
  { requestId, traceparent, actorId }: SettingCause,
  { id, version, body }: WrittenSetting,
): Promise<void> {
  await sql(
    tx,
    `INSERT INTO pricing_settings_history (version, setting_id, body, actor_id, request_id) VALUES ($1, $2, $3::json, $4, $5)`,
    [version, id, body === undefined ? null : JSON.stringify(body), actorId ?? null, requestId],
  );
  await appendEvent(tx, {
    type: 'setting.changed.v1',
    subject: id,
    sequence: version,
    requestId,
    traceparent,
    data: { settingId: id, kind, archived: body === undefined },
  });
}

/**
 * Uses are counted only while a discount has a bound, and those of each account only with `usesPerAccount`. A bound
 * that is added later would not count the orders before.
 */
function boundFaults(present: Readonly<Record<string, unknown>>, merged: DiscountBody): Fault[] {
  const had = { uses: present.uses !== undefined, usesPerAccount: present.usesPerAccount !== undefined };
  const has = { uses: merged.uses !== undefined, usesPerAccount: merged.usesPerAccount !== undefined };
  const isFixed = { uses: !had.usesPerAccount || !has.usesPerAccount, usesPerAccount: true };
  return (['uses', 'usesPerAccount'] as const).flatMap((member) => {
    const detail = has[member]
      ? 'cannot be added later: archive this discount, and add another one with the same code'
      : 'cannot be removed: raise it';
    return isFixed[member] && had[member] !== has[member] ? [{ pointer: `/${member}`, detail }] : [];
  });
}
