// A change in the feed, and who sees it.
import type { Caller } from '@shop/shared/auth';
import type { Kind } from './changed-resource.ts';

/** The days for which the feed keeps a change. */
export const keptDays = 7;

/** A change as the feed stores it. */
export interface Change {
  readonly position: number;
  readonly eventId: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: number;
  readonly previousSequence: number | null;
  readonly happenedAt: Date;
  readonly kind: Kind;
  readonly resourceId: string;
  readonly accountId: string | null;
  readonly isPublic: boolean;
  readonly data: object | null;
}

/** The SELECT list of a `Change`. */
export const changeColumns = `position, event_id AS "eventId", source, type, subject, sequence,
  previous_sequence AS "previousSequence", happened_at AS "happenedAt", kind, resource_id AS "resourceId",
  account_id AS "accountId", is_public AS "isPublic", data`;

/** What a caller follows. */
export interface ChangeFilter {
  readonly kinds: readonly Kind[];
  /** The kinds of which the caller sees all changes. */
  readonly staffKinds: readonly Kind[];
  /** The account that sees its own changes; undefined for machines and anonymous callers. */
  readonly accountId: string | undefined;
}

/** The addresses of resources, by kind. */
const paths: Readonly<Record<Kind, string>> = {
  account: '/v1/accounts',
  discount: '/v1/discounts',
  order: '/v1/orders',
  product: '/v1/products',
  return: '/v1/returns',
  'shipping-method': '/v1/shipping-methods',
  'tax-rate': '/v1/tax-rates',
};

export const kinds = Object.keys(paths) as Kind[];

/** Returns the kinds of a parameter that the contract has checked; all of them without it. */
export function toKinds(types: string | undefined): readonly Kind[] {
  return types === undefined ? kinds : kinds.filter((kind) => types.split(',').includes(kind));
}

/** The scopes that read all resources of a kind, as the lists of these resources demand them. */
const scopes: Readonly<Record<Kind, readonly string[]>> = {
  account: ['accounts:support'],
  discount: ['settings:write'],
  order: ['orders:read-all', 'orders:fulfil'],
  product: ['catalogue:write'],
  return: ['orders:read-all', 'orders:fulfil'],
  'shipping-method': ['settings:write'],
  'tax-rate': ['settings:write'],
};

export function toFilter(
  caller: Pick<Caller, 'accountId' | 'isMachine' | 'scopes'> | undefined,
  wanted: readonly Kind[] = kinds,
): ChangeFilter {
  const staffKinds = wanted.filter((kind) => scopes[kind].some((scope) => caller?.scopes.has(scope)));
  return { kinds: wanted, staffKinds, accountId: caller?.isMachine === true ? undefined : caller?.accountId };
}

export function isVisible({ kind, isPublic, accountId }: Change, filter: ChangeFilter): boolean {
  if (!filter.kinds.includes(kind)) return false;
  return isPublic || filter.staffKinds.includes(kind) || (accountId !== null && accountId === filter.accountId);
}

/** Returns the change as a CloudEvent 1.0 in the JSON format, with the extensions of the feed. */
export function toView({ position: _, eventId, happenedAt, kind, resourceId, data, ...change }: Change) {
  return {
    specversion: '1.0' as const,
    id: eventId,
    source: change.source,
    type: change.type,
    subject: change.subject,
    time: happenedAt.toISOString(),
    sequence: toSequence(change.sequence),
    ...(change.previousSequence !== null && { previoussequence: toSequence(change.previousSequence) }),
    resource: `${paths[kind]}/${resourceId}`,
    ...(data !== null && { datacontenttype: 'application/json' as const, data: data as Record<string, unknown> }),
  };
}

/** As in the events of the broker: texts of equal length, which sort like their numbers. */
const toSequence = (version: number): string => String(version).padStart(10, '0');
