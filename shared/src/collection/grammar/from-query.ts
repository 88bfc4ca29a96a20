// Parses the query notation: parameters → tree → criteria. docs/filtering.md describes the grammar.
import { type Fault, nearestName } from '../../problem/index.ts';
import { bounds } from './bounds.ts';
import { check, listedFaults } from './check-criteria.ts';
import type { Criteria } from './criteria.ts';
import { type CollectionSpec, filterable, operators } from './spec.ts';
import {
  fault,
  type InputLocation,
  shown,
  surplusCriterion,
  type Tree,
  type WrittenCondition,
  type WrittenValue,
} from './tree.ts';

/**
 * Decoded parameters; a repeated one is an array. A number that the contract check has already converted is read as it
 * was written.
 */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>;

const settings = ['sort', 'limit', 'cursor', 'fields'];

/**
 * Parses the criteria of a collection request in the query string.
 * @param found known faults, which are reported together with the faults found here
 * @throws Problem `invalid-request` with every fault by parameter and position; `query-too-costly` past a limit
 */
export function fromQuery(spec: CollectionSpec<never>, query: Query, found: readonly Fault[] = []): Criteria {
  const faults = [...found];
  const count = { conditions: 0, groups: 0 };
  const tree: Tree = { spelling: 'query', conditions: [], groups: [], count, sort: [], own: [], ownMembers: {} };
  const { parameters: own = [] } = spec;
  const names = filterable(spec);
  for (const parameter of Object.keys(query)) {
    if (faults.length > listedFaults) break;
    const given = query[parameter] ?? '';
    const texts = typeof given === 'object' ? given : [String(given)];
    if (settings.includes(parameter)) {
      if (texts.length > 1) faults.push(fault({ parameter, occurrence: 2 }, 'is given twice'));
      readSetting(tree, parameter, texts[0] ?? '', faults);
    } else if (names.includes(parameter)) {
      tree.conditions.push(...readFilter(parameter, texts, faults));
    } else if (own.includes(parameter)) {
      tree.own.push(...texts.map((text) => `${parameter}=${encodeURIComponent(text)}`));
    } else {
      const known = [...names, ...settings, ...own];
      const nearest = nearestName(parameter, known);
      const hint = nearest === undefined ? '' : ` did you mean ${nearest}?`;
      faults.push(fault({ parameter }, `is not a known parameter;${hint} known are ${known.join(', ')}`, known));
    }
  }
  tree.count.conditions = tree.conditions.length;
  return check(spec, tree, faults);
}

function readSetting(tree: Tree, parameter: string, text: string, faults: Fault[]): void {
  if (parameter === 'limit') tree.limit = { spelling: 'text', written: text, at: { parameter } };
  else if (parameter === 'cursor') tree.cursor = { spelling: 'text', written: text, at: { parameter } };
  else {
    let position = 1;
    const parts = text.split(',');
    for (const [index, part] of parts.entries()) {
      const at = { parameter, position };
      position += part.length + 1;
      if (parameter === 'fields') {
        tree.fields ??= [];
        tree.fields.push({ spelling: 'text', written: part, at });
      } else if (index === bounds.sortCriteria) {
        faults.push(surplusCriterion(at, parts.length));
        return;
      } else {
        const colon = part.indexOf(':');
        if (colon > 0) tree.sort.push({ field: part.slice(0, colon), direction: part.slice(colon + 1), at });
        else faults.push(fault(at, `${shown(part)} must be a field and a direction, as in price:asc`));
      }
    }
  }
}

interface Item {
  /** Undefined for a plain value. */
  readonly operator: string | undefined;
  readonly value: WrittenValue;
  readonly at: InputLocation;
}

/**
 * Returns all conditions on one field. Plain values form one list, with the operator `in` when there are several. When
 * one condition cannot be parsed, no condition is returned, so that no consequential fault is reported.
 */
function readFilter(field: string, texts: readonly string[], faults: Fault[]): WrittenCondition[] {
  const before = faults.length;
  const conditions: { field: string; operator: string; values: WrittenValue[]; count: number; at: InputLocation }[] =
    [];
  let plain: (typeof conditions)[number] | undefined;
  for (const [index, text] of texts.entries()) {
    const place = texts.length > 1 ? { parameter: field, occurrence: index + 1 } : { parameter: field };
    let list: (typeof conditions)[number] | undefined;
    for (const { operator, value, at } of readItems(text, place, faults)) {
      if (operator === undefined && list) {
        list.values.push(value);
        list.count += 1;
      } else if (operator === undefined) {
        if (!plain) {
          plain = { field, operator: 'in', values: [], count: 0, at };
          conditions.push(plain);
        }
        plain.values.push(value);
        plain.count += 1;
      } else {
        const condition = { field, operator, values: [value], count: 1, at };
        conditions.push(condition);
        list = operator === 'in' ? condition : undefined;
      }
    }
  }
  // An unknown operator is a separate fault.
  if (plain && conditions.length > 1 && conditions.every(isKnown)) {
    faults.push(fault(plain.at, 'mixes plain values and operators; write in:a,b or operators only'));
  }
  return faults.length > before ? [] : conditions;
}

function isKnown({ operator }: { readonly operator: string }): boolean {
  return operators.some((known) => known === operator);
}

const operatorAhead = /[A-Za-z_]+:/y;
const timeAhead = /[0-9]{4}-[0-9]{2}-[0-9]{2}T/y;

/** Scans the string once. A fault stops the scan, because the rest after an invalid quote has no meaning. */
function readItems(text: string, place: { parameter: string; occurrence?: number }, faults: Fault[]): Item[] {
  const items: Item[] = [];
  let index = 0;
  for (;;) {
    const at = { ...place, position: index + 1 };
    operatorAhead.lastIndex = index;
    const operator = operatorAhead.exec(text)?.[0].slice(0, -1);
    if (operator !== undefined) index += operator.length + 1;
    const start = { ...place, position: index + 1 };
    const read = text[index] === '"' ? readQuoted(text, index) : readBare(text, index);
    if ('wrong' in read) {
      faults.push(fault({ ...place, position: read.at + 1 }, read.wrong));
      return items;
    }
    items.push({ operator, value: { spelling: 'text', written: read.value, at: start }, at });
    if (read.end === text.length) return items;
    index = read.end + 1;
  }
}

type Read = { value: string; end: number } | { wrong: string; at: number };

function readBare(text: string, from: number): Read {
  const comma = text.indexOf(',', from);
  const end = comma < 0 ? text.length : comma;
  const value = text.slice(from, end);
  if (value === '') return { wrong: 'lacks a value; write "" for the empty text', at: from };
  const quote = value.indexOf('"');
  if (quote >= 0)
    return { wrong: 'has a value with a quote, which is written in double quotes, as "\\""', at: from + quote };
  timeAhead.lastIndex = 0;
  const colon = value.indexOf(':');
  if (colon >= 0 && !timeAhead.test(value)) {
    return { wrong: `${shown(value)} holds a colon and is written in double quotes, as "a:b"`, at: from + colon };
  }
  if (value !== value.trim()) {
    return {
      wrong: `${shown(value)} begins or ends with a space: leave it out, or write the value in quotes`,
      at: from,
    };
  }
  return { value, end };
}

function readQuoted(text: string, from: number): Read {
  let value = '';
  let index = from + 1;
  for (;;) {
    const character = text[index];
    if (character === undefined) return { wrong: 'lacks the closing quote', at: from };
    if (character === '"') break;
    if (character === '\\') {
      const escaped = text[index + 1];
      if (escaped !== '"' && escaped !== '\\')
        return { wrong: 'has a backslash that stands neither before " nor before \\', at: index };
      value += escaped;
      index += 2;
    } else {
      value += character;
      index += 1;
    }
  }
  const end = index + 1;
  if (end < text.length && text[end] !== ',') return { wrong: 'lacks a comma after the closing quote', at: end };
  return { value, end };
}
