// Builds the largest JSON body that a schema of a contract accepts, in its longest usual form.
import { dereference, maxBodyBytes, type Node, toNode } from '@shop/shared/contract';

/**
 * A letter with four bytes in UTF-8 and twelve as `\u` escapes, followed by characters for patterns that accept no
 * letters.
 */
const alphabet = ['\u{20000}', '0'];
const email = `${'\u{20000}'.repeat(250)}@b.c`;
/**
 * 64 bytes before the `@`, and labels that have 57 bytes in ASCII, so 242 of the 254 bytes that an address may have.
 */
const registeredEmail = `${'\u{20000}'.repeat(16)}@${`${'\u{20000}'.repeat(50)}.`.repeat(3)}com`;
/** In euros; the largest one depends on the currency. */
const largestPrice = 999_999_999.99;
const id = '01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01';

/**
 * The text of a body with every member, every list and every text as long as the schema allows, indented, and with each
 * character past ASCII as `\u` escapes.
 * @param accepts whether the whole contract accepts a body; members that exclude others are omitted
 * @throws Error when the schema has no bound
 */
export function largestBody(document: Node, schema: unknown, accepts: (body: unknown) => boolean): string {
  const whole = largest(document, dereference(document, schema)) as Record<string, unknown>;
  const names = Object.keys(whole);
  const omissions = names.length > 8 ? [[], ...names.map((name) => [name])] : subsets(names);
  const candidates = omissions.map((omitted) =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => !omitted.includes(name))),
  );
  const texts = candidates.filter(accepts).map(spelled);
  if (texts.length === 0) throw new Error('the contract accepts none of the bodies that its schema leads to');
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest));
}

function subsets(names: readonly string[]): string[][] {
  const [first, ...rest] = names;
  if (first === undefined) return [[]];
  return subsets(rest).flatMap((each) => [each, [first, ...each]]);
}

/** Escapes are used unless the longest body that the shop accepts is too short for them. */
function spelled(body: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const plain = JSON.stringify(body, null, 2);
  const longest = plain.replaceAll(/[\u0080-\uffff]/g, escaped);
  return longest.length <= maxBodyBytes ? longest : plain;
}

function largest(document: Node, { allOf, ...own }: Node): unknown {
  const parts = Array.isArray(allOf) ? allOf.map((part) => dereference(document, part)) : [];
  const schema: Node = Object.assign({}, ...parts, own);
  const types = [schema.type].flat();
  if (Array.isArray(schema.enum)) return schema.enum.toSorted((a, b) => String(b).length - String(a).length)[0];
  if (Array.isArray(schema.oneOf)) {
    const forms = schema.oneOf.map((form) => largest(document, dereference(document, form)));
    return forms.reduce((longest, form) => (spelled(form).length > spelled(longest).length ? form : longest));
  }
  if (types.includes('object')) {
    const members = Object.entries(toNode(schema.properties));
    const named = members.map(([name, member]) => [name, largest(document, dereference(document, member))]);
    return Object.fromEntries([...named, ...furtherMembers(document, schema)]);
  }
  if (types.includes('array')) {
    const items = dereference(document, schema.items);
    if (schema.uniqueItems === true && Array.isArray(items.enum)) return items.enum;
    const item = largest(document, items);
    return new Array(bound(schema, 'maxItems')).fill(item);
  }
  if (types.includes('string')) return largestText(schema);
  if (types.includes('integer')) return bound(schema, 'maximum');
  if (types.includes('number')) return schema.maximum ?? largestPrice;
  if (types.includes('boolean')) return false;
  if (schema.type === 'null') return null;
  throw new Error(`no largest value for ${JSON.stringify(schema)}`);
}

/** Adds members with names of the client's choice, the maximum number of them with the maximum length. */
function furtherMembers(document: Node, schema: Node): [string, unknown][] {
  if (typeof schema.additionalProperties !== 'object') return [];
  const { maxLength, pattern } = dereference(document, schema.propertyNames);
  const value = largest(document, dereference(document, schema.additionalProperties));
  return Array.from({ length: bound(schema, 'maxProperties') }, (_, index) => {
    const name = `a${index}`.padEnd(Number(maxLength), 'x');
    return [new RegExp(String(pattern ?? '')).test(name) ? name : `${languageTag}-${index}`, value];
  });
}

const languageTag = 'yue-Hant-419';

function largestText(schema: Node): string {
  if (schema.format === 'uuid') return id;
  if (schema.pattern === '^[A-Z]{3}$') return 'EUR';
  if (schema.pattern === '^[A-Z]{2}$') return 'CH';
  if (schema.format === 'date-time') return '2026-12-01T00:00:00.000+01:00';
  if (schema['x-email-address'] === true) return registeredEmail;
  const pattern = typeof schema.pattern === 'string' ? new RegExp(schema.pattern, 'u') : undefined;
  const length = bound(schema, 'maxLength');
  const address = 'https://a/'.padEnd(length, 'x');
  const texts = [...alphabet.map((character) => character.repeat(length)), email, address, languageTag];
  const text = texts.find((each) => [...each].length === length && pattern?.test(each) !== false);
  if (text === undefined) throw new Error(`no largest text for ${JSON.stringify(schema)}`);
  return text;
}

function bound(schema: Node, name: 'maxItems' | 'maxLength' | 'maxProperties' | 'maximum'): number {
  const value = schema[name];
  if (typeof value !== 'number') throw new Error(`${JSON.stringify(schema)} has no ${name}`);
  return value;
}
