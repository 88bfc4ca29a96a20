// The fault of a query parameter that an operation does not have, with the parameter that the client probably meant.
import { nearestName } from '../problem/index.ts';

/** The names of other interfaces → the parameter of the shop. */
const otherNames: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(?:page|page_?number|page\[(?:number|offset|after|cursor)\]|offset|skip|start|after|starting_after)$/i,
    'cursor',
    'send the nextCursor of a page as cursor to get the next one',
  ],
  [/^(?:page_?size|page\[(?:size|limit)\]|per_?page|size|count|top)$/i, 'limit', 'write limit'],
  [/^(?:order|order_?by|sort_?by|sort\[.*\])$/i, 'sort', 'write sort, as in sort=createdAt:desc'],
  [/^(?:search|query|text|keywords?)$/i, 'q', 'write q'],
];

const bracketed = /^([\w.]{1,60}?)(?:\[\$?|__?|\.)(eq|ne|lte?|gte?|in)\]?$/;
/** `filter[price]`, and `attributes[colour]` instead of `attributes.colour`. */
const nested = /^(\w{1,60})\[(\w{1,60})\]$/;
const bounding = /^(min|max)_?(\w{1,60})$|^(\w{1,60}?)_(min|max)$/i;
const compared = /^([\w.]{1,60})(>|<|!)(.{0,60})$/;
const comparison: Readonly<Record<string, string>> = { '>': 'gt', '<': 'lt', '!': 'ne' };

/** @param value of the parameter in the request */
export function unknownParameter(name: string, value: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not a known parameter; this address has none';
  const remedy = remedyOf(name, value, known);
  return `is not a known parameter; ${remedy === undefined ? '' : `${remedy.replace(/[^?]$/, '$&;')} `}known are ${known.join(', ')}`;
}

function remedyOf(name: string, value: string, known: readonly string[]): string | undefined {
  const [, field = '', operator = ''] = bracketed.exec(name) ?? [];
  if (known.includes(field)) return `write ${field}=${operator}:${shown(value)}`;
  const [, left = '', sign = '', right = ''] = compared.exec(name) ?? [];
  // `price>=10` is the parameter `price>` with the value 10.
  const isEqual = right === '' && sign !== '!';
  if (known.includes(left)) return `write ${left}=${comparison[sign]}${isEqual ? 'e' : ''}:${shown(right || value)}`;
  const [, object = '', member = ''] = nested.exec(name) ?? [];
  if (object === 'filter' && known.includes(member)) return `write ${member}=${shown(value)}`;
  if (known.includes(`${object}.*`)) return `write ${object}.${member}=${shown(value)}`;
  const [, before, bounded = '', also = '', after] = bounding.exec(name) ?? [];
  const limited = known.find((each) => each.toLowerCase() === (bounded || also).toLowerCase());
  if (limited !== undefined)
    return `write ${limited}=${(before ?? after)?.toLowerCase() === 'min' ? 'gte' : 'lte'}:${shown(value)}`;
  const other = otherNames.find(([names, own]) => known.includes(own) && names.test(name));
  if (other !== undefined) return other[2];
  const nearest = nearestName(name, known);
  return nearest === undefined ? undefined : `did you mean ${nearest}?`;
}

function shown(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40).toWellFormed()}…` : value;
}
