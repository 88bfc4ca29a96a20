// Rejects requests that exceed the static limits. The problem states the limits, the excess, and the nearest accepted
// request.
import { Problem } from '../../problem/index.ts';
import { bounds } from './bounds.ts';
import { meets } from './contradiction.ts';
import type { Condition, Criteria } from './criteria.ts';
import { toBody, toQuery } from './serialize.ts';
import type { CollectionSpec } from './spec.ts';
import { splitCriteria } from './split.ts';
import { fault, type InputLocation, type Tree, type WrittenCondition } from './tree.ts';

interface Excess {
  readonly bound: 'conditions' | 'listValues' | 'groups';
  readonly says: string;
  readonly actual: number;
  readonly at: InputLocation;
}

/** The maximum size of the proposed request as JSON. A larger one is omitted, so that the response stays small. */
const maxNearest = 32 * 1024;

/**
 * @throws Problem `query-too-costly` with the members `exceeded: [{ bound, maximum, actual }]` and, up to 32 KiB,
 * `nearest`; with `split` when only lists are too long: queries that together return the results of this one
 */
export function checkBounds(spec: CollectionSpec<never>, tree: Tree, criteria: Criteria): void {
  const all = [tree.conditions, ...tree.groups.map((group) => group.conditions)].flat();
  const excesses: Excess[] = [];
  const surplus = all[bounds.conditions];
  if (surplus)
    excesses.push({ bound: 'conditions', says: 'conditions', actual: tree.count.conditions, at: surplus.at });
  for (const condition of all.filter(isLong)) {
    const says = `values in the list of ${condition.field}`;
    excesses.push({ bound: 'listValues', says, actual: condition.count, at: condition.at });
  }
  const group = tree.groups[bounds.groups];
  if (group) excesses.push({ bound: 'groups', says: 'or groups', actual: tree.count.groups, at: group.at });
  if (excesses.length === 0) return;
  // A sort order is proposed only when the client gave one, because the operation may have another default.
  const sort = tree.sort.length === 0 ? [] : criteria.sort;
  const write = (accepted: Criteria) =>
    tree.spelling === 'query'
      ? [...tree.own, toQuery(spec, { ...accepted, sort })].join('&')
      : { ...tree.ownMembers, ...toBody(spec, { ...accepted, sort }) };
  const nearest = write(nearestAccepted(criteria));
  const isShown = Buffer.byteLength(JSON.stringify(nearest)) <= maxNearest;
  const isOfLists = excesses.every(({ bound, actual }) => bound === 'listValues' && actual <= bounds.splitValues);
  const split = isOfLists ? splitCriteria(criteria)?.map(write) : undefined;
  const isSplit = split !== undefined && Buffer.byteLength(JSON.stringify(split)) <= maxNearest;
  const sentences = [
    ...excesses.map(sentence),
    ...(isShown ? ['nearest is the closest accepted query.'] : []),
    ...(isSplit ? ['The queries of split together give what this one asks for.'] : []),
  ];
  throw new Problem('query-too-costly', sentences.join(' '), {
    errors: excesses.map((excess) => fault(excess.at, sentence(excess))),
    extensions: {
      exceeded: excesses.map(({ bound, actual }) => ({ bound, maximum: bounds[bound], actual })),
      ...(isShown ? { nearest } : {}),
      ...(isSplit ? { split } : {}),
    },
  });
}

/** Returns whether the request exceeds a limit and is rejected. */
export function isExcessive({ conditions, groups, count }: Tree): boolean {
  const all = [conditions, ...groups.map((group) => group.conditions)].flat();
  return count.conditions > bounds.conditions || count.groups > bounds.groups || all.some(isLong);
}

/** Returns whether a list has more values than permitted. */
export function isLong(condition: WrittenCondition): boolean {
  return condition.count > bounds.listValues;
}

function sentence({ bound, says, actual }: Excess): string {
  return `At most ${bounds[bound]} ${says} are accepted; these are ${actual}.`;
}

/**
 * Returns the request without the excess. Later conditions, values and groups are removed first. A list retains the
 * values that meet the field's other conditions. When no value does, the list is removed and the other conditions stay.
 */
function nearestAccepted(criteria: Criteria): Criteria {
  let room = bounds.conditions;
  const take = (conditions: readonly Condition[]): Condition[] => {
    const taken = conditions.flatMap((condition) => shortened(condition, conditions)).slice(0, room);
    room -= taken.length;
    return taken;
  };
  const conditions = take(criteria.conditions);
  const or = criteria.or
    .slice(0, bounds.groups)
    .map(take)
    .filter((group) => group.length > 0);
  return { ...criteria, conditions, or, cursor: undefined };
}

function shortened(condition: Condition, all: readonly Condition[]): Condition[] {
  if (condition.operator !== 'in') return [condition];
  const others = all.filter((other) => other.field === condition.field && other !== condition);
  const values = condition.values.filter((value) => others.every((other) => meets(value, other)));
  return values.length === 0 ? [] : [{ ...condition, values: values.slice(0, bounds.listValues) }];
}
