// Compares two JSON Schemas in one direction. What the shop accepts (requests, settings, arguments of commands, handled
// events) may only grow. What it produces (responses, sent events, output, metrics) may only be promised more closely.
// Members may be added to produced objects, also where a schema has `additionalProperties: false`, because clients ignore
// members that they do not know. A change that cannot be judged counts as breaking.
import { isDeepStrictEqual } from 'node:util';
import { isNode, type Node, toNode } from '@shop/shared/contract';
import { type BreakingChange, changeAt, componentAt, type Place, within } from './breaking-change.ts';
import { effectiveSchema, listOf, targetOf, typesOf } from './effective-schema.ts';

export type Direction = 'accepted' | 'produced';

/** The documents in which the references of the schemas are resolved. */
export interface Documents {
  readonly before: Node;
  readonly after: Node;
}

const lowerBounds: Readonly<Record<string, string>> = {
  minimum: 'the minimum',
  exclusiveMinimum: 'the exclusive minimum',
  minLength: 'the minimum length',
  minItems: 'the minimum number of items',
  minProperties: 'the minimum number of members',
};

const upperBounds: Readonly<Record<string, string>> = {
  maximum: 'the maximum',
  exclusiveMaximum: 'the exclusive maximum',
  maxLength: 'the maximum length',
  maxItems: 'the maximum number of items',
  maxProperties: 'the maximum number of members',
};

/** Formats that restrict no value: they tell generators how to represent it (OpenAPI Format Registry). */
const describing: ReadonlySet<string> = new Set(['int32', 'int64', 'double', 'password']);

/** Keywords that are compared one by one. All other keywords are compared as a whole. */
const compared: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'default',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'items',
  'oneOf',
  'anyOf',
  'if',
  'then',
  'else',
  ...Object.keys(lowerBounds),
  ...Object.keys(upperBounds),
]);

/** Compares schemas of two documents. It reports a component that several places refer to once in each direction. */
export class SchemaComparison {
  readonly changes: BreakingChange[] = [];
  readonly #documents: Documents;
  readonly #parent: SchemaComparison | undefined;
  /** Direction and schema before → the schemas after with which it was compared. */
  readonly #seen = { accepted: new Map<Node, Set<Node>>(), produced: new Map<Node, Set<Node>>() };

  /** @param parent a comparison whose schemas are not compared again */
  constructor(documents: Documents, parent?: SchemaComparison) {
    this.#documents = documents;
    this.#parent = parent;
  }

  compare(before: unknown, after: unknown, direction: Direction, origin: Place): void {
    const old = targetOf(this.#documents.before, before);
    const next = targetOf(this.#documents.after, after);
    if (this.isKnown(direction, old, next)) return;
    this.#seen[direction].set(old, new Set([...(this.#seen[direction].get(old) ?? []), next]));
    const place = componentAt(before, after, origin, 'schema');
    const a = effectiveSchema(this.#documents.before, old);
    const b = effectiveSchema(this.#documents.after, next);
    if (!this.#types(a, b, direction, place)) return;
    this.#values(a, b, direction, place);
    this.#bounds(a, b, direction, place);
    this.#wholes(a, b, direction, place);
    if (direction === 'accepted' && !isDeepStrictEqual(a.default, b.default))
      this.#report(place, `the default was ${show(a.default)} and is ${show(b.default)}`);
    this.#members(a, b, direction, place);
    this.#furtherMembers(a, b, direction, place);
    this.#memberNames(a, b, direction, place);
    this.#items(a, b, direction, place);
    this.#alternatives(a, b, direction, place);
  }

  /** Whether the schemas were compared, here or in a parent. */
  isKnown(direction: Direction, old: Node, next: Node): boolean {
    return this.#seen[direction].get(old)?.has(next) === true || this.#parent?.isKnown(direction, old, next) === true;
  }

  #report(place: Place, change: string): void {
    this.changes.push(changeAt(place, change));
  }

  /** Returns whether the types are compatible. */
  #types(a: Node, b: Node, direction: Direction, place: Place): boolean {
    const [old, next] = [typesOf(a), typesOf(b)];
    const refused = old.filter((type) => !next.includes(type));
    const added = next.filter((type) => !old.includes(type));
    if (direction === 'accepted' && refused.length > 0 && b.enum === undefined) {
      this.#report(place, `no longer accepts ${refused.join(', ')}`);
      return false;
    }
    if (direction === 'produced' && added.length > 0 && a.enum === undefined) {
      this.#report(place, `may now be ${added.join(', ')}`);
      return false;
    }
    return true;
  }

  #values(a: Node, b: Node, direction: Direction, place: Place): void {
    const [narrow, wide] = direction === 'accepted' ? [b.enum, a.enum] : [a.enum, b.enum];
    if (!Array.isArray(narrow)) return;
    const given = Array.isArray(wide) ? wide : undefined;
    const others = given?.filter((value) => !narrow.some((each) => isDeepStrictEqual(each, value)));
    if (others?.length === 0) return;
    const which = others?.map(show).join(', ');
    if (direction === 'accepted')
      this.#report(
        place,
        which === undefined ? `accepts only ${narrow.map(show).join(', ')}` : `no longer accepts ${which}`,
      );
    else this.#report(place, which === undefined ? 'may now have any value' : `may now be ${which}`);
  }

  #bounds(a: Node, b: Node, direction: Direction, place: Place): void {
    for (const [bounds, sign] of [
      [lowerBounds, 1],
      [upperBounds, -1],
    ] as const) {
      for (const [keyword, name] of Object.entries(bounds)) {
        const absent = sign === 1 && !/imum$/.test(keyword) ? 0 : -sign * Number.POSITIVE_INFINITY;
        const [old, next] = [a[keyword] ?? absent, b[keyword] ?? absent].map(Number) as [number, number];
        const narrowed = sign * (next - old);
        if (direction === 'accepted' ? narrowed > 0 : narrowed < 0)
          this.#report(place, `${name} was ${showBound(old)} and is ${showBound(next)}`);
      }
    }
  }

  /** Keywords whose change cannot be judged. Only its removal makes a schema wider, and only its addition narrower. */
  #wholes(a: Node, b: Node, direction: Direction, place: Place): void {
    const keywords = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((keyword) => !compared.has(keyword));
    const wholes = keywords.map((keyword) => [keyword, a[keyword], b[keyword]] as const);
    for (const [keyword, old, next] of [...wholes, ['if', conditionOf(a), conditionOf(b)] as const]) {
      const permitted = direction === 'accepted' ? next === undefined : old === undefined;
      if (permitted || isDeepStrictEqual(old, next)) continue;
      if (keyword === 'format' && old === undefined && describing.has(String(next))) continue;
      this.#report(place, `${keyword} was ${show(old)} and is ${show(next)}`);
    }
  }

  #members(a: Node, b: Node, direction: Direction, place: Place): void {
    const [old, next] = [toNode(a.properties), toNode(b.properties)];
    const removed = Object.keys(old).filter((name) => !(name in next));
    for (const name of removed) this.#report(place, `the member ${name} was removed`);
    const [requiredBefore, requiredAfter] = [listOf(a.required), listOf(b.required)];
    if (direction === 'accepted') {
      for (const name of requiredAfter)
        if (!requiredBefore.includes(name)) this.#report(place, `the member ${name} is required now`);
    } else {
      for (const name of requiredBefore)
        if (!requiredAfter.includes(name) && !removed.includes(String(name)))
          this.#report(place, `the member ${name} may be absent now`);
    }
    for (const [name, member] of Object.entries(old))
      if (name in next) this.compare(member, next[name], direction, within(place, `member ${name}`));
  }

  #furtherMembers(a: Node, b: Node, direction: Direction, place: Place): void {
    const [old, next] = [a.additionalProperties ?? true, b.additionalProperties ?? true];
    if (old === false) return;
    if (next === false) {
      if (isNode(old) || direction === 'accepted') this.#report(place, 'has no further members any more');
    } else if (isNode(old) || isNode(next)) this.compare(old, next, direction, within(place, 'further members'));
  }

  #memberNames(a: Node, b: Node, direction: Direction, place: Place): void {
    const [old, next] = [a.propertyNames ?? { type: 'string' }, b.propertyNames ?? { type: 'string' }];
    if ('propertyNames' in a || 'propertyNames' in b)
      this.compare(old, next, direction, within(place, 'names of members'));
  }

  #items(a: Node, b: Node, direction: Direction, place: Place): void {
    if ('items' in a || 'items' in b) this.compare(a.items ?? {}, b.items ?? {}, direction, within(place, 'items'));
  }

  /**
   * Each accepted alternative must still be accepted by one of the new alternatives. Each produced alternative must be
   * one that was produced before.
   */
  #alternatives(a: Node, b: Node, direction: Direction, place: Place): void {
    const lists = [a, b].some(({ oneOf, anyOf }) => oneOf !== undefined && anyOf !== undefined)
      ? [
          [a.oneOf, b.oneOf],
          [a.anyOf, b.anyOf],
        ]
      : [[a.oneOf ?? a.anyOf, b.oneOf ?? b.anyOf]];
    for (const [old, next] of lists)
      if (old !== undefined || next !== undefined)
        this.#alternativeLists(listOf(old ?? {}), listOf(next ?? {}), direction, place);
  }

  #alternativeLists(olds: readonly unknown[], nexts: readonly unknown[], direction: Direction, place: Place): void {
    const fits = (before: unknown, after: unknown): boolean => {
      const trial = new SchemaComparison(this.#documents, this);
      trial.compare(before, after, direction, place);
      return trial.changes.length === 0;
    };
    const [from, to] = direction === 'accepted' ? [olds, nexts] : [nexts, olds];
    for (const [index, alternative] of from.entries()) {
      const fitting = (other: unknown): boolean =>
        direction === 'accepted' ? fits(alternative, other) : fits(other, alternative);
      if (to.some(fitting)) continue;
      const words = `alternative ${index + 1}`;
      if (olds.length === nexts.length) this.compare(olds[index], nexts[index], direction, within(place, words));
      else this.#report(place, direction === 'accepted' ? `${words} is no longer accepted` : `${words} is new`);
    }
  }
}

function conditionOf({ if: condition, then: holds, else: otherwise }: Node): unknown {
  return condition === undefined ? undefined : [condition, holds, otherwise];
}

function show(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}

function showBound(bound: number): string {
  return Number.isFinite(bound) ? String(bound) : 'absent';
}
