// The operations on settings, which are the same for each kind.
import { fromQuery, type Page, readPage } from '@shop/shared/collection';
import { refuseFaults } from '@shop/shared/contract';
import { sql } from '@shop/shared/database';
import {
  idempotent,
  type OperationRequest,
  type Result,
  requireCaller,
  requireMatch,
  requireNoneMatch,
  toEtag,
  toWeakEtag,
} from '@shop/shared/http';
import type { OrdersContext } from '../context.ts';
import {
  addSetting,
  archiveSetting,
  type LockedSetting,
  lockSetting,
  patchSetting,
  type SettingCause,
} from './change-setting.ts';
import { type SettingKind, settingFaults } from './setting-kinds.ts';
import { noSuchSetting } from './settings.ts';

type SettingsContext = Pick<OrdersContext, 'database' | 'settings' | 'idempotencySecrets'>;

/** The page and a `Link` to the next one. 400 for an invalid query. */
export function listSettings(
  { query, faults, url }: OperationRequest,
  { database, settings }: SettingsContext,
  kind: SettingKind,
): Promise<Page> {
  const { collection } = settings[kind];
  const criteria = fromQuery(collection.spec, query, faults);
  return readPage({ collection, criteria, pool: database.pool, context: undefined, url });
}

/** 404 for an unknown id, and for an archived setting. */
export async function getSetting(
  { database, settings }: SettingsContext,
  kind: SettingKind,
  id: string,
): Promise<Result> {
  const { selectOne, result } = settings[kind];
  const { rows } = await database.pool.query<Record<string, string | null>>({
    name: `setting-${kind}`,
    text: selectOne,
    values: [id],
  });
  if (rows[0] === undefined) throw noSuchSetting();
  return result(200, rows[0]);
}

/** 201 with the setting and its address; 409 when the discount code or the tax rate exists. */
export async function createSetting(
  request: OperationRequest,
  context: SettingsContext,
  kind: SettingKind,
): Promise<Result> {
  const store = context.settings[kind];
  refuseFaults(request.faults, settingFaults(store, request.body));
  return idempotent(request, context, async (tx) => {
    const id = await addSetting(tx, store, causeOf(request), request.body as object);
    const [row = {}] = await sql(tx, store.selectOne, [id]);
    return store.result(201, row, { Location: `${store.path}/${id}` });
  });
}

/** 200 with the setting; 404 for an archived one, 412 when `If-Match` is stale, 409 as for a new setting. */
export async function updateSetting(
  request: OperationRequest,
  { database, settings }: SettingsContext,
  kind: SettingKind,
  id: string,
): Promise<Result> {
  const store = settings[kind];
  return database.transaction(async (tx) => {
    const present = await lockSetting(tx, store, id);
    if (present.isArchived) throw noSuchSetting();
    requireMatch(request.headers, ...tagsOf(present));
    await patchSetting(tx, store, causeOf(request), present, request.body);
    const [row = {}] = await sql(tx, store.selectOne, [id]);
    return store.result(200, row);
  });
}

/** 204, also for a setting that is already archived, whatever `If-Match` contains; 412 when `If-Match` is stale. */
export async function removeSetting(
  request: OperationRequest,
  { database, settings }: SettingsContext,
  kind: SettingKind,
  id: string,
): Promise<Result> {
  await database.transaction(async (tx) => {
    const present = await lockSetting(tx, settings[kind], id);
    requireNoneMatch(request.headers, ...tagsOf(present));
    if (present.isArchived) return;
    requireMatch(request.headers, ...tagsOf(present));
    await archiveSetting(tx, settings[kind], causeOf(request), present);
  });
  return { status: 204 };
}

function tagsOf({ version }: LockedSetting): string[] {
  return [toEtag(version), toWeakEtag(version)];
}

function causeOf(request: OperationRequest): SettingCause {
  return { requestId: request.id, traceparent: request.traceparent, actorId: requireCaller(request).accountId };
}
