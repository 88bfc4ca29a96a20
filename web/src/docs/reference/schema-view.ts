// A JSON schema as a list of members for the reference: names, types, meanings and bounds.
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';
import { escapeHtml } from '@shop/shared/runtime';
import { textOf } from '../../yaml-document.ts';
import { inlineMarkdown } from '../guide.ts';

interface Member {
  readonly name: string;
  readonly schema: Node;
  readonly description: string;
  readonly required: boolean;
}

/** Members up to this number are shown without a click. */
const fewMembers = 6;

/** Returns the members of an object or of the items of a list; the type and the bounds of any other schema. */
export function schemaHtml(document: Node, given: unknown): string {
  const schema = dereference(document, given);
  const members = membersHtml(document, schema, 0);
  if (members !== '') return members;
  return `<p><span class="type">${typeOf(document, schema)}</span> ${boundsHtml(document, schema)}</p>`;
}

/** Returns a parameter or member: its name, its type, whether it is required, its meaning and its bounds. */
export function memberHtml(document: Node, member: Member, depth = 0): string {
  const { name, description, required } = member;
  const schema = dereference(document, member.schema);
  const inner = membersHtml(document, schema, depth + 1);
  const mark = required ? ' <span class="required">required</span>' : '';
  const meaning = description || textOf(schema.description);
  const open = depth === 0 && (inner.match(/<li>/g) ?? []).length <= fewMembers ? ' open' : '';
  return `<li><div><code class="name">${escapeHtml(name)}</code> <span class="type">${typeOf(document, schema)}</span>${mark}</div>
${meaning === '' ? '' : `<div class="meaning">${inlineMarkdown(meaning)}</div>`}${boundsHtml(document, schema)}
${inner === '' ? '' : `<details${open}><summary>Members of <code>${escapeHtml(name)}</code></summary>${inner}</details>`}</li>`;
}

function membersHtml(document: Node, schema: Node, depth: number): string {
  if (depth > 6) return '';
  if (schema.items !== undefined) return membersHtml(document, dereference(document, schema.items), depth);
  const members = membersOf(document, schema).map((member) => memberHtml(document, member, depth));
  const others = alternativesOf(document, schema).map((alternative) => membersHtml(document, alternative, depth));
  const further = toNode(schema.additionalProperties);
  if (Object.keys(further).length > 0 && members.length === 0) {
    const values = dereference(document, further);
    return `<ul class="members plain">${memberHtml(document, { name: 'any name', schema: values, description: '', required: false }, depth)}</ul>`;
  }
  const list = members.length === 0 ? '' : `<ul class="members plain">${members.join('\n')}</ul>`;
  return [list, ...others].filter((text) => text !== '').join('\n<p class="quiet">or</p>\n');
}

/** Returns the members of an object schema, those of its `allOf` parts included. */
function membersOf(document: Node, schema: Node): Member[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const parts = Array.isArray(schema.allOf) ? schema.allOf : [];
  const inherited = parts.flatMap((part) => membersOf(document, dereference(document, part)));
  const own = Object.entries(toNode(schema.properties)).map(([name, given]): Member => {
    const description = textOf(toNode(given).description);
    return { name, schema: dereference(document, given), description, required: required.has(name) };
  });
  const byName = new Map([...inherited, ...own].map((member) => [member.name, member]));
  return [...byName.values()].map((one) => ({ ...one, required: one.required || required.has(one.name) }));
}

function alternativesOf(document: Node, schema: Node): Node[] {
  const given = [schema.oneOf, schema.anyOf].find(Array.isArray) ?? [];
  return given.filter(isNode).map((one) => dereference(document, one));
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'time',
  uuid: 'UUID',
  uri: 'address',
  email: 'e-mail',
};

/** Returns HTML such as `string`, `list of objects`, or `number or null`. */
function typeOf(document: Node, schema: Node): string {
  const alternatives = alternativesOf(document, schema);
  if (alternatives.length > 0) {
    return [...new Set(alternatives.map((one) => typeOf(document, one)))].join(' or ');
  }
  if ('const' in schema) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.type === 'array') {
    const item = typeOf(document, dereference(document, schema.items));
    return `list of ${item}${/^\w+$/.test(item) ? 's' : ''}`;
  }
  const format = formats[textOf(schema.format)];
  if (format !== undefined) return format;
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  if (types.length === 0) {
    if (Array.isArray(schema.enum)) return 'string';
    return schema.properties !== undefined || schema.allOf !== undefined ? 'object' : 'any value';
  }
  return types.map((type) => escapeHtml(textOf(type))).join(' or ');
}

/** Returns enumerated values, ranges, lengths, patterns and the default; an empty string without them. */
function boundsHtml(document: Node, schema: Node): string {
  const code = (value: unknown): string =>
    `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;
  const items = schema.type === 'array' ? dereference(document, schema.items) : {};
  const values = [schema.enum, items.enum].find(Array.isArray);
  const pattern =
    textOf(schema['x-pattern-detail']) || (schema.pattern === undefined ? '' : `matches ${code(schema.pattern)}`);
  const bounds = [
    ...(values === undefined ? [] : [`One of ${values.map(code).join(', ')}`]),
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'items'),
    range(schema.minProperties, schema.maxProperties, 'members'),
    pattern,
    schema.default === undefined ? '' : `default ${code(schema.default)}`,
  ].filter((bound) => bound !== '');
  return bounds.length === 0 ? '' : `<div class="bounds">${bounds.join(' · ')}</div>`;
}

function range(least: unknown, most: unknown, unit: string): string {
  const bounds = [
    ...(least === undefined || most === undefined ? [] : [`${least} to ${most}`]),
    ...(most === undefined && least !== undefined ? [`at least ${least}`] : []),
    ...(least === undefined && most !== undefined ? [`at most ${most}`] : []),
  ];
  return bounds.map((bound) => `${bound} ${bound.endsWith(' 1') ? unit.replace(/s$/, '') : unit}`.trim()).join('');
}
