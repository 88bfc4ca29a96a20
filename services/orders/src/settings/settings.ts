// The settings of prices as staff see and change them: their lists, and the transaction of each change.
import {
  type Collection,
  type CollectionSpec,
  type Cursors,
  decimal,
  type Field,
  json,
  listed,
  none,
  openCollection,
  selectAll,
  text,
  time,
  uuid,
  writeAll,
} from '@shop/shared/collection';
import type { Contract } from '@shop/shared/contract';
import { type Result, toEtag, toWeakEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { countryExpected, isCountry } from '@shop/shared/shop';
import { toComparedCode } from './discount-code.ts';
import { allAccounts } from './discount-uses.ts';
import { type KindRules, openSettingKinds, type SettingKind } from './setting-kinds.ts';

/** One kind of settings, as the operations use it. */
export interface SettingStore extends KindRules {
  readonly kind: SettingKind;
  readonly collection: Collection<unknown>;
  /** The SELECT list of a setting: its members as JSON text, then the parts of its entity tag. */
  readonly columns: string;
  /** The statement that reads the setting with the id `$1`, unless it is archived. */
  readonly selectOne: string;
  /** Returns the response with a row of `columns`. */
  result(status: number, row: object, headers?: Readonly<Record<string, string>>): Result;
  /** Returns the faults of a whole body by the contract. */
  check(body: unknown): ReturnType<Contract['operations'][number]['check']>['faults'];
}

export type Settings = Readonly<Record<SettingKind, SettingStore>>;

/** @param currency of the shop, ISO 4217 */
export function openSettings(currency: string, cursors: Cursors, contract: Contract): Settings {
  const kinds = openSettingKinds(currency);
  const open = (kind: SettingKind): SettingStore => openStore(kind, kinds[kind], cursors, contract);
  return { 'shipping-method': open('shipping-method'), 'tax-rate': open('tax-rate'), discount: open('discount') };
}

/** The number of orders that use a discount; NULL for a setting without a bound. */
const usedSql = `(CASE WHEN coalesce(body -> 'uses', body -> 'usesPerAccount') IS NOT NULL THEN coalesce((SELECT used FROM discount_uses AS counter
  WHERE discount_id = settings.id AND account_id = '${allAccounts}'), 0) END)`;

function openStore(kind: SettingKind, rules: KindRules, cursors: Cursors, contract: Contract): SettingStore {
  const spec = specOf(kind, rules);
  const columns = `${selectAll(spec)}, concat_ws('.', version, ${usedSql}) AS version`;
  const write = writeAll(spec);
  const creation = contract.operations.find(({ operationId }) => operationId === rules.creation);
  if (creation === undefined) throw new Error(`the contract has no ${rules.creation}`);
  return {
    ...rules,
    kind,
    collection: openCollection(spec, cursors),
    columns,
    selectOne: `SELECT ${columns} FROM ${spec.from} WHERE id = $1`,
    result: (status, row, headers = {}) => {
      const values: (string | null)[] = Object.values(row);
      const version = values.at(-1) ?? '';
      const etag = kind === 'discount' ? toWeakEtag(version) : toEtag(version);
      return { status, headers, etag, json: write(values, undefined) };
    },
    check: (body) => creation.check({ url: creation.path, path: {}, headers: {}, body }).faults,
  };
}

/** Returns the members of the kind in responses, and its filters. Archived settings are not in the collection. */
function specOf(kind: SettingKind, { members }: KindRules): CollectionSpec<unknown> {
  const shown = (name: string): Field => ({ type: json(), operators: none, column: `(body -> '${name}')` });
  const fields: Record<string, Field> = {
    id: { type: uuid(), operators: none, column: 'id', sortable: true },
    ...Object.fromEntries(Object.keys(members).map((name) => [name, shown(name)])),
    ...(kind === 'discount' && { used: { type: decimal(0), operators: none, column: usedSql } }),
    createdAt: { type: time(), operators: none, column: 'created_at' },
    updatedAt: { type: time(), operators: none, column: 'updated_at' },
  };
  const position = { type: decimal(0), operators: none, column: 'position', sortable: true };
  const sort = kind === 'shipping-method' ? ['position', 'id'] : ['id'];
  return {
    name: `${kind.replace('-', '_')}s`,
    from: `(SELECT *, (body ->> 'position')::integer AS position FROM pricing_settings
      WHERE kind = '${kind}' AND archived_at IS NULL) AS settings`,
    fields: {
      ...fields,
      ...(kind === 'shipping-method' && { position, country: servedCountry }),
      ...(kind === 'tax-rate' && { country: { ...shown('country'), ...country } }),
      ...(kind === 'discount' && { code: { ...shown('code'), ...code } }),
    },
    defaultSort: sort.map((field) => ({ field, direction: 'asc' })),
  };
}

/** Returns the SQL of a condition that compares an expression with one value, or with those of a list. */
const equals =
  (sql: string) =>
  (operator: string, parameter: string): string =>
    operator === 'in' ? `${sql} = ANY(${parameter})` : `${sql} = ${parameter}`;

const readCountry = (given: unknown): string | undefined => {
  return typeof given === 'string' && isCountry(given) ? given : undefined;
};
const countryType = { ...text(2), expects: countryExpected, fromText: readCountry, fromJson: readCountry };
const country = {
  type: { ...countryType, write: json().write },
  operators: listed,
  condition: equals("(body ->> 'country')"),
};

/** The filter of the methods that deliver to a country. */
const servedCountry: Field = {
  type: countryType,
  operators: listed,
  column: "(body -> 'countries')",
  filterOnly: true,
  condition: (operator, parameter) =>
    `(body -> 'countries' IS NULL OR (body -> 'countries')::jsonb ${operator === 'in' ? '?|' : '?'} ${parameter})`,
};

const longestCode = text(100);
const readCode = (given: unknown): string | undefined => {
  const read = longestCode.fromJson(given);
  return read === undefined ? undefined : toComparedCode(String(read));
};

/** The filter by a code compares the forms in which codes are unique. */
const code = {
  type: { ...longestCode, fromText: readCode, fromJson: readCode, write: json().write },
  operators: listed,
  condition: equals('code'),
};

export function noSuchSetting(): Problem {
  return new Problem('not-found', 'There is no such setting, or it is archived.');
}
