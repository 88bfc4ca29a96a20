// Writes repeated members of products and accounts in the contracts: the lines between `# generated: PART` and `# end`.
// They are derived from the table of columns in the service, and from the schema of a creation, which contains the
// schema of each member once. A member that is written by hand beside a part is not in the part.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { type Field, listed, matched, ordered } from '@shop/shared/collection';
import { isNode, type Node, parseYaml, referenceTokens, toNode } from '@shop/shared/contract';
import { stringify } from 'yaml';
import { accountColumns, toAttribute } from '../services/accounts/src/account/account-columns.ts';
import { productColumns, productFields } from '../services/catalogue/src/product/product-columns.ts';

const part = /^( *)# generated: (.+)\n[\s\S]*?# end\n/gm;

/** Part → its mapping or list. */
type Parts = Readonly<Record<string, Node | readonly unknown[]>>;

/**
 * Returns the contracts with the present content of their parts.
 * @param read returns the content of a file
 */
export function memberContracts(read: (file: string) => string): ReadonlyMap<string, string> {
  const [accounts, catalogue] = ['services/accounts/openapi.yaml', 'services/catalogue/openapi.yaml'];
  const events = 'shared/contracts/events.yaml';
  const product = new Creation(read(catalogue), 'NewProduct');
  const account = new Creation(read(accounts), 'NewAccount');
  const parts: readonly (readonly [file: string, parts: Parts])[] = [
    [catalogue, productParts(product)],
    [accounts, accountParts(account)],
    [events, { 'product members': productEvent(product), 'account members': accountEvent(account) }],
  ];
  return new Map(parts.map(([file, content]) => [file, withParts(file, read(file), content)]));
}

function productParts(creation: Creation): Parts {
  const written = Object.keys(productColumns).filter((member) => member in creation.properties);
  const fields = Object.entries(productFields('EUR', 'staff'));
  const forCustomers = Object.keys(productFields('EUR', 'customers'));
  const filterable = fields.filter(([, { operators }]) => operators.length > 0);
  const undescribed = filterable.filter(([member]) => !creation.text.includes(`/${toPascalCase(member)}Filter"`));
  return {
    members: mapOf(written, (member) => creation.schemaOf(member)),
    patch: mapOf(written, (member) => creation.patchOf(member)),
    fields: { enum: Object.keys(productColumns) },
    'fields of customers': { value: forCustomers.join() },
    'sort fields': { enum: fields.filter(([, { sortable }]) => sortable).map(([member]) => member) },
    conditions: Object.fromEntries(
      filterable.map(([member, field]) => [member, conditionsOf(creation, member, field)]),
    ),
    filters: undescribed.map(([member]) => ({ $ref: `#/components/parameters/${toPascalCase(member)}Filter` })),
    'filter parameters': Object.fromEntries(
      undescribed.map(([member, field]) => [`${toPascalCase(member)}Filter`, filterParameter(member, field)]),
    ),
  };
}

function filterParameter(name: string, { operators, nullable }: Field): Node {
  const without = nullable ? ` A product without \`${name}\` matches no condition.` : '';
  const schema = { type: 'array', items: { type: 'string' } };
  return { name, in: 'query', description: `Operators ${operators.join(', ')}.${without}`, schema };
}

/** Returns the schema of the conditions on a member: its own one, or that of its type. */
function conditionsOf(creation: Creation, member: string, { type, operators }: Field): Node {
  const isShort = Number(creation.resolved(member).maxLength) <= 100;
  const ofCast: Partial<Record<typeof type.cast, readonly [schema: string, operators: Field['operators']]>> = {
    bigint: ['NumberConditions', ordered],
    timestamptz: ['TimeConditions', ordered],
    boolean: ['BooleanConditions', listed],
    text: [isShort ? 'ShortTextConditions' : 'TextConditions', matched],
  };
  const [usual, permitted] = ofCast[type.cast] ?? [];
  const own = `${toPascalCase(member)}Conditions`;
  const name = creation.has('schemas', own) ? own : operators === permitted ? usual : undefined;
  if (name === undefined) throw new Error(`write the schema ${own} for the operators ${operators.join(', ')}`);
  return { $ref: `#/components/schemas/${name}` };
}

function accountParts(creation: Creation): Parts {
  const lines = Object.entries<{ type: unknown; forStaff?: unknown }>(accountColumns);
  const written = lines.map(([member]) => member).filter((member) => member in creation.properties);
  const found = lines.filter(([, { forStaff }]) => forStaff !== undefined).map(([member]) => member);
  return {
    members: mapOf(written, (member) => creation.schemaOf(member)),
    patch: mapOf(written, (member) => creation.patchOf(member)),
    'members for staff': mapOf(found, (member) => creation.schemaOf(member)),
  };
}

function productEvent(creation: Creation): Node {
  const lines = Object.entries<{ column: string; type?: unknown; inEvents?: boolean }>(productColumns);
  const sent = lines.filter(([, { type, inEvents }]) => type !== undefined && inEvents !== false);
  return mapOf(
    sent.map(([member]) => member),
    (member) => creation.eventOf(member, 'product'),
  );
}

function accountEvent(creation: Creation): Node {
  const sent = Object.entries<{ type: unknown; inEvents?: unknown }>(accountColumns).filter(
    ([member, { inEvents }]) => inEvents !== undefined && member in creation.properties,
  );
  return Object.fromEntries(sent.map(([member]) => [toAttribute(member), creation.eventOf(member, 'account')]));
}

/** Returns the content of a file with the present content of its parts. */
function withParts(file: string, text: string, parts: Parts): string {
  const written = text.replace(part, (whole, indent: string, name: string, offset: number) => {
    const content = parts[name];
    if (content === undefined) throw new Error(`${file}: there is no part "${name}"`);
    const siblings = siblingsOf(indent, text.slice(0, offset), text.slice(offset + whole.length));
    const lines = Array.isArray(content)
      ? content.map((item) => `- ${onOneLine(item)}`)
      : Object.entries(content).flatMap(([key, item]) => (siblings.has(key) ? [] : [`${key}: ${onOneLine(item)}`]));
    return [`# generated: ${name}`, ...lines, '# end'].map((line) => `${indent}${line}\n`).join('');
  });
  return format(file, written);
}

/** Returns the keys of the mapping around a part that are written by hand. */
function siblingsOf(indent: string, before: string, after: string): ReadonlySet<string> {
  const isOutside = (line: string) => line.trim() !== '' && !line.startsWith(indent);
  const [above, below] = [before.split('\n').reverse(), after.split('\n')].map((lines) => {
    const end = lines.findIndex(isOutside);
    return end === -1 ? lines : lines.slice(0, end);
  });
  const keys = [...(above ?? []), ...(below ?? [])].map((line) => line.slice(indent.length).match(/^[\w.]+(?=:)/)?.[0]);
  return new Set(keys.filter((key) => key !== undefined));
}

function onOneLine(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

function format(file: string, text: string): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const options = { input: text, encoding: 'utf8', cwd: new URL('..', import.meta.url) } as const;
  return execFileSync(process.execPath, [biome, 'format', '--vcs-enabled=false', `--stdin-file-path=${file}`], options);
}

/** The schema of a creation in a document: the schemas of its members, and those that a creation may lack. */
class Creation {
  /** The document without the parts. */
  readonly text: string;
  readonly #components: Node;
  readonly properties: Node;
  readonly #required: unknown;

  constructor(text: string, name: string) {
    this.text = text.replace(part, '');
    this.#components = toNode(toNode(parseYaml(this.text)).components);
    const { properties, required } = toNode(toNode(this.#components.schemas)[name]);
    this.properties = toNode(properties);
    this.#required = required;
  }

  has(kind: string, name: string): boolean {
    return name in toNode(this.#components[kind]);
  }

  /** Returns whether a resource can lack the member. */
  isOptional(member: string): boolean {
    const isRequired = Array.isArray(this.#required) && this.#required.includes(member);
    return !isRequired && !('default' in toNode(this.properties[member]));
  }

  /** Returns the schema of the member, as it is written. */
  schemaOf(member: string): Node {
    const { default: _, ...schema } = toNode(this.properties[member]);
    return schema;
  }

  /** Returns the schema of the member without a reference. */
  resolved(member: string): Node {
    const schema = this.schemaOf(member);
    if (typeof schema.$ref !== 'string' || !schema.$ref.startsWith('#')) return schema;
    const [, kind = '', name = ''] = referenceTokens(schema.$ref);
    return toNode(toNode(this.#components[kind])[name]);
  }

  /** Returns the schema of the member in a merge patch, where `null` removes an optional member. */
  patchOf(member: string): Node {
    if (!this.isOptional(member)) return this.schemaOf(member);
    const { description: _, examples: __, type, ...further } = this.resolved(member);
    const isSimple = typeof type === 'string' && type !== 'array' && type !== 'object';
    return isSimple ? { type: [type, 'null'], ...further } : { oneOf: [this.schemaOf(member), { type: 'null' }] };
  }

  /**
   * Returns the schema of the member in events. It has no bounds, because a consumer accepts values that any release
   * permitted.
   */
  eventOf(member: string, resource: string): Node {
    const schema = withoutBounds(this.resolved(member)) as Node;
    return this.isOptional(member) ? { ...schema, description: `Absent when the ${resource} has none.` } : schema;
  }
}

const kept: ReadonlySet<string> = new Set(['type', 'format', 'enum', 'items', 'required', 'oneOf']);

function withoutBounds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutBounds);
  if (!isNode(schema)) return schema;
  const { properties, additionalProperties } = schema;
  return {
    ...Object.fromEntries(
      Object.entries(schema).flatMap(([key, value]) => (kept.has(key) ? [[key, withoutBounds(value)]] : [])),
    ),
    ...(isNode(properties) && {
      properties: mapOf(Object.keys(properties), (name) => withoutBounds(properties[name])),
    }),
    ...(isNode(additionalProperties) && { additionalProperties: withoutBounds(additionalProperties) }),
  };
}

function toPascalCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function mapOf(keys: readonly string[], to: (key: string) => unknown): Node {
  return Object.fromEntries(keys.map((key) => [key, to(key)]));
}
