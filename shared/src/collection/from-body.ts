// The body spelling: JSON → tree → criteria.
import type { Fault } from '../http/problem.ts';
import { type Criteria, check, refuse } from './criteria.ts';
import type { CollectionSpec } from './spec.ts';
import { fault, shown, type Tree, type WrittenCondition } from './tree.ts';

const members = ['filters', 'sort', 'pagination', 'fields'];
const paginationMembers = ['limit', 'cursor'];

/**
 * Criteria of a collection request in a JSON body.
 * @throws Problem `invalid-request` with every fault by pointer (RFC 6901); `query-too-costly` past a bound
 */
export function fromBody(spec: CollectionSpec<never>, body: unknown): Criteria {
  const faults: Fault[] = [];
  const tree: Tree = { spelling: 'body', conditions: [], groups: [], sort: [] };
  const root = readObject(body, '', faults);
  for (const name of Object.keys(root)) {
    const at = pointer('', name);
    if (name === 'filters') readFilters(tree, readObject(root[name], at, faults), at, faults);
    else if (name === 'sort') readSort(tree, root[name], at, faults);
    else if (name === 'pagination') readPagination(tree, readObject(root[name], at, faults), at, faults);
    else if (name === 'fields') {
      tree.fields = readArray(root[name], at, faults).map((written, index) => ({
        spelling: 'json',
        written,
        at: { pointer: pointer(at, index) },
      }));
    } else unknownMember(name, at, members, faults);
  }
  if (faults.length > 0) refuse(faults);
  return check(spec, tree);
}

/** RFC 6901: `~` and `/` in a member's name are escaped. */
function pointer(base: string, name: string | number): string {
  return `${base}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 100).toWellFormed()}`;
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
  tree.conditions = readConditions(filters, at, faults, 'or');
  if (!Object.hasOwn(filters, 'or')) return;
  const base = pointer(at, 'or');
  tree.groups = readArray(filters.or, base, faults).map((group, index) => {
    const place = pointer(base, index);
    const object = readObject(group, place, faults);
    if (Object.hasOwn(object, 'or')) {
      faults.push(fault({ pointer: pointer(place, 'or') }, 'or stands at the top of filters only, one level deep'));
    }
    return { conditions: readConditions(object, place, faults, 'or'), at: { pointer: place } };
  });
}

function readConditions(
  filters: Record<string, unknown>,
  at: string,
  faults: Fault[],
  besides: string,
): WrittenCondition[] {
  const conditions: WrittenCondition[] = [];
  for (const field of Object.keys(filters)) {
    if (field === besides) continue;
    const base = pointer(at, field);
    const before = faults.length;
    const given = readObject(filters[field], base, faults);
    const names = Object.keys(given);
    if (names.length === 0 && faults.length === before)
      faults.push(fault({ pointer: base }, 'must hold an operator, as in {"eq": …}'));
    for (const operator of names) {
      const place = pointer(base, operator);
      const written = given[operator];
      if (operator === 'in') {
        const values = readArray(written, place, faults).map((value, index) => valueAt(value, pointer(place, index)));
        conditions.push({ field, operator, values, at: { pointer: place } });
      } else if (operator === 'ne' && Array.isArray(written)) {
        // An object cannot say `ne` twice, and a query can: each listed value is a condition of its own.
        for (const [index, value] of readArray(written, place, faults).entries()) {
          const each = pointer(place, index);
          conditions.push({ field, operator, values: [valueAt(value, each)], at: { pointer: each } });
        }
      } else conditions.push({ field, operator, values: [valueAt(written, place)], at: { pointer: place } });
    }
  }
  return conditions;
}

function valueAt(written: unknown, at: string) {
  return { spelling: 'json', written, at: { pointer: at } } as const;
}

function readSort(tree: Tree, json: unknown, at: string, faults: Fault[]): void {
  for (const [index, criterion] of readArray(json, at, faults).entries()) {
    const place = pointer(at, index);
    const { field, direction, ...others } = readObject(criterion, place, faults);
    for (const name of Object.keys(others)) unknownMember(name, pointer(place, name), ['field', 'direction'], faults);
    if (typeof field === 'string' && typeof direction === 'string') {
      tree.sort.push({ field, direction, at: { pointer: place } });
    } else faults.push(fault({ pointer: place }, 'must be {"field": …, "direction": "asc" or "desc"}'));
  }
}

function readPagination(tree: Tree, pagination: Record<string, unknown>, at: string, faults: Fault[]): void {
  for (const name of Object.keys(pagination)) {
    const place = pointer(at, name);
    if (name === 'limit') tree.limit = valueAt(pagination[name], place);
    else if (name === 'cursor') tree.cursor = valueAt(pagination[name], place);
    else unknownMember(name, place, paginationMembers, faults);
  }
}
