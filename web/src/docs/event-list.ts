// The list of all events for the guide about events, from the services' AsyncAPI documents.
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';
import { textOf } from '../yaml-document.ts';

export interface EventDocument {
  /** The service that the document belongs to. */
  readonly service: string;
  readonly document: Node;
}

interface Mention {
  readonly service: string;
  readonly action: string;
  readonly summary: string;
  readonly message: string;
  readonly data: readonly Member[];
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/**
 * Returns a section in Markdown for each event type: its meaning, its sender, its consumers and the members of its
 * `data`.
 */
export function eventList(documents: readonly EventDocument[]): string {
  const mentions = new Map<string, Mention[]>();
  for (const { service, document } of documents) {
    for (const operation of Object.values(toNode(document.operations)).map(toNode)) {
      const channel = dereference(document, operation.channel);
      const type = textOf(channel.address);
      const message = dereference(document, Object.values(toNode(channel.messages))[0]);
      const mention = {
        service,
        action: textOf(operation.action),
        summary: textOf(operation.summary),
        message: textOf(message.summary),
        data: membersOf(document, membersByName(document, message.payload).get('data')),
      };
      mentions.set(type, [...(mentions.get(type) ?? []), mention]);
    }
  }
  return [...mentions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, all]) => section(type, all))
    .join('\n\n');
}

function section(type: string, mentions: readonly Mention[]): string {
  // The sender's description takes precedence.
  const sent = mentions.filter(({ action }) => action === 'send');
  const { message, data } = sent[0] ?? mentions[0] ?? { message: '', data: [] };
  const consumers = mentions
    .filter(({ action }) => action === 'receive')
    .map(({ service, summary }) => `- **${service}** ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`);
  const described = data.some(({ description }) => description !== '');
  const row = (...cells: string[]): string =>
    `| ${(described ? cells : cells.slice(0, 2)).map(cellText).join(' | ')} |`;
  const rows = data.map(({ name, type: of, description }) => row(`\`${name}\``, of, description));
  return [
    `### ${type}`,
    `${message} Sent by **${sent.map(({ service }) => service).join(', ')}**` +
      `${consumers.length === 0 ? '.' : '. In the shop itself:'}`,
    consumers.join('\n'),
    [row('In `data`', 'Type', 'Meaning'), row('---', '---', '---'), ...rows].join('\n'),
  ].join('\n\n');
}

/** Returns a string on one line, with `|` escaped so that it does not start another cell. */
function cellText(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}

/** Returns the members of an object schema, those of its `allOf` parts included. */
function membersByName(document: Node, value: unknown): Map<string, unknown> {
  const schema = dereference(document, value);
  const parts = Array.isArray(schema.allOf) ? schema.allOf : [];
  const inherited = parts.flatMap((part) => [...membersByName(document, part)]);
  return new Map([...inherited, ...Object.entries(toNode(schema.properties))]);
}

function membersOf(document: Node, value: unknown, prefix = ''): Member[] {
  return [...membersByName(document, value)].flatMap(([member, schemaOrReference]): Member[] => {
    const schema = dereference(document, schemaOrReference);
    const name = `${prefix}${member}`;
    const description = textOf(toNode(schemaOrReference).description) || textOf(schema.description);
    const own = { name, type: typeText(document, schema), description };
    return [
      own,
      ...membersOf(
        document,
        schema.type === 'array' ? schema.items : schema,
        `${name}${schema.type === 'array' ? '[]' : ''}.`,
      ),
    ];
  });
}

function typeText(document: Node, schema: Node): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => `\`${String(one)}\``).join(' or ');
  if ('const' in schema) return `\`${String(schema.const)}\``;
  // A reference with an additional description is an `allOf` of one part.
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1)
    return typeText(document, dereference(document, schema.allOf[0]));
  const alternatives = [schema.oneOf, schema.anyOf].find(Array.isArray)?.filter(isNode) ?? [];
  if (alternatives.length > 0)
    return alternatives.map((one) => typeText(document, dereference(document, one))).join(' or ');
  if (schema.format === 'date-time') return 'time';
  if (schema.format === 'uuid' || textOf(schema.pattern).startsWith('^[0-9a-f]{8}')) return 'id';
  return Array.isArray(schema.type) ? schema.type.join(' or ') : textOf(schema.type);
}
