// Parses the body notation: JSON → tree → criteria.

import { pointerTo } from '../../json/index.ts';
import type { Fault } from '../../problem/index.ts';
import { bounds } from './bounds.ts';
import { check, listedFaults } from './check-criteria.ts';
import type { Criteria } from './criteria.ts';
import type { CollectionSpec } from './spec.ts';
import { fault, shown, surplusCriterion, type Tree, type WrittenCondition } from './tree.ts';

const members = ['filters', 'sort', 'pagination', 'fields'];
const paginationMembers = ['limit', 'cursor'];

/**
 * Parses the criteria of a collection request in a JSON body.
 * @param found known faults, which are reported together with the faults found here
 * @throws Problem `invalid-request` with every fault by pointer (RFC 6901); `query-too-costly` when a limit is exceeded
 */
export function fromBody(spec: CollectionSpec<never>, body: unknown, found: readonly Fault[] = []): Criteria {
  const faults: Fault[] = [];
  const count = { conditions: 0, groups: 0 };
  const tree: Tree = { spelling: 'body', conditions: [], groups: [], count, sort: [], own: [], ownMembers: {} };
  const { parameters: own = [] } = spec;
  const root = readObject(body, '', faults);
  for (const name of Object.keys(root)) {
    if (faults.length > listedFaults) break;
    const at = pointerTo('', name);
    if (name === 'filters') readFilters(tree, readObject(root[name], at, faults), at, faults);
    else if (name === 'sort') readSort(tree, root[name], at, faults);
    else if (name === 'pagination') readPagination(tree, readObject(root[name], at, faults), at, faults);
    else if (name === 'fields') {
      tree.fields = readArray(root[name], at, faults)
        .slice(0, listedFaults + 1)
        .map((written, index) => ({
          spelling: 'json',
          written,
          at: { pointer: pointerTo(at, index) },
        }));
    } else if (own.includes(name)) tree.ownMembers[name] = root[name];
    else unknownMember(name, at, [...members, ...own], faults);
  }
  return check(spec, tree, faults, found);
}

function unknownMember(name: string, at: string, known: readonly string[], faults: Fault[]): void {
  faults.push(fault({ pointer: at }, `${shown(name)} is no member; ${known.join(', ')} are`, known));
}

function readObject(json: unknown, at: string, faults: Fault[]): Record<string, unknown> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  faults.push(fault({ pointer: at }, `${shown(json)} must be an object`));
  return {};
}

function readArray(json: unknown, at: string, faults: Fault[]): readonly unknown[] {
  if (Array.isArray(json) && json.length > 0) return json;
  faults.push(fault({ pointer: at }, `${shown(json)} must be an array with at least one element`));
  return [];
}

function readFilters(tree: Tree, filters: Record<string, unknown>, at: string, faults: Fault[]): void {
  tree.conditions = readConditions(filters, at, faults);
  tree.count.conditions = countConditions(filters);
  if (!Object.hasOwn(filters, 'or')) return;
  const base = pointerTo(at, 'or');
  const groups = readArray(filters.or, base, faults);
  tree.count.groups = groups.length;
  for (const group of groups) tree.count.conditions += countConditions(group);
  tree.groups = groups.slice(0, bounds.groups + 1).map((group, index) => {
    const place = pointerTo(base, index);
    const before = faults.length;
    const object = readObject(group, place, faults);
    if (Object.keys(object).length === 0 && faults.length === before) {
      faults.push(fault({ pointer: place }, 'must hold at least one condition'));
    }
    if (Object.hasOwn(object, 'or')) {
      faults.push(fault({ pointer: pointerTo(place, 'or') }, 'must stand at the top of filters only, one level deep'));
    }
    return { conditions: readConditions(object, place, faults), at: { pointer: place } };
  });
}

/** Returns the number of conditions in a filter object, valid or not. */
function countConditions(filters: unknown): number {
  const byField = Object(filters) as Readonly<Record<string, unknown>>;
  let count = 0;
  // A hostile body has thousands of fields, for which `Object.entries` takes three times as long.
  for (const field of Object.keys(byField)) {
    const given = byField[field];
    if (field === 'or' || typeof given !== 'object' || given === null) continue;
    for (const operator of Object.keys(given)) {
      const value = (given as Readonly<Record<string, unknown>>)[operator];
      count += operator === 'ne' && Array.isArray(value) ? value.length : 1;
    }
  }
  return count;
}

/** Parses as many conditions as are permitted, and one more for the location of the fault. */
function readConditions(filters: Record<string, unknown>, at: string, faults: Fault[]): WrittenCondition[] {
  const conditions: WrittenCondition[] = [];
  for (const field of Object.keys(filters)) {
    if (field === 'or') continue;
    if (conditions.length > bounds.conditions || faults.length > listedFaults) break;
    conditions.push(...readField(field, filters[field], pointerTo(at, field), faults));
  }
  return conditions.slice(0, bounds.conditions + 1);
}

function readField(field: string, json: unknown, base: string, faults: Fault[]): WrittenCondition[] {
  const before = faults.length;
  const given = readObject(json, base, faults);
  const names = Object.keys(given);
  if (names.length === 0 && faults.length === before) {
    faults.push(fault({ pointer: base }, 'must hold an operator, as in {"eq": …}'));
  }
  return names.slice(0, bounds.conditions + 1).flatMap((operator) => {
    const place = pointerTo(base, operator);
    const written = given[operator];
    const one = (value: unknown, where: string) => {
      return { field, operator, values: [valueAt(value, where)], count: 1, at: { pointer: where } };
    };
    if (operator === 'in') {
      const list = readArray(written, place, faults);
      const values = list.slice(0, bounds.splitValues).map((value, index) => valueAt(value, pointerTo(place, index)));
      return [{ field, operator, values, count: list.length, at: { pointer: place } }];
    }
    // An object cannot contain `ne` twice, but a query can. Each listed value is therefore a separate condition.
    if (operator !== 'ne' || !Array.isArray(written)) return [one(written, place)];
    const list = readArray(written, place, faults).slice(0, bounds.conditions + 1);
    return list.map((value, index) => one(value, pointerTo(place, index)));
  });
}

function valueAt(written: unknown, at: string) {
  return { spelling: 'json', written, at: { pointer: at } } as const;
}

function readSort(tree: Tree, json: unknown, at: string, faults: Fault[]): void {
  const written = readArray(json, at, faults);
  if (written.length > bounds.sortCriteria) {
    faults.push(surplusCriterion({ pointer: pointerTo(at, bounds.sortCriteria) }, written.length));
  }
  for (const [index, criterion] of written.slice(0, bounds.sortCriteria).entries()) {
    const place = pointerTo(at, index);
    const before = faults.length;
    const { field, direction, ...others } = readObject(criterion, place, faults);
    if (faults.length > before) continue;
    for (const name of Object.keys(others)) unknownMember(name, pointerTo(place, name), ['field', 'direction'], faults);
    if (typeof field === 'string' && typeof direction === 'string') {
      tree.sort.push({ field, direction, at: { pointer: place } });
    } else faults.push(fault({ pointer: place }, 'must be {"field": …, "direction": "asc" or "desc"}'));
  }
}

function readPagination(tree: Tree, pagination: Record<string, unknown>, at: string, faults: Fault[]): void {
  for (const name of Object.keys(pagination)) {
    const place = pointerTo(at, name);
    if (name === 'limit') tree.limit = valueAt(pagination[name], place);
    else if (name === 'cursor') tree.cursor = valueAt(pagination[name], place);
    else unknownMember(name, place, paginationMembers, faults);
  }
}
