// Filters by attributes of products: `attributes.colour=red`, for the attributes that the shop's configuration
// declares.
import { type Field, type FieldType, listed, text } from '@shop/shared/collection';
import { isExact } from '@shop/shared/json';

/** An attribute by which lists can be filtered. */
export interface DeclaredAttribute {
  readonly name: string;
  readonly type: 'text' | 'number';
}

const declaration = /^([a-z][A-Za-z0-9]{0,39})(?::(text|number))?$/;
const mostDeclared = 50;

/** Parses `colour,size:number`. @throws RangeError with the fault */
export function parseAttributes(list: string): readonly DeclaredAttribute[] {
  if (list === '') return [];
  const declared = list.split(',').map((part): DeclaredAttribute => {
    const [, name, type = 'text'] = declaration.exec(part.trim()) ?? [];
    if (name === undefined) throw new RangeError('must be names in camelCase, each with or without :number');
    return { name, type: type === 'number' ? 'number' : 'text' };
  });
  const names = new Set(declared.map(({ name }) => name));
  if (names.size < declared.length) throw new RangeError('must name each attribute once');
  if (names.size > mostDeclared) throw new RangeError(`must name at most ${mostDeclared} attributes`);
  return declared;
}

/** Returns the fields of a collection of products for these filters. */
export function attributeFields(declared: readonly DeclaredAttribute[]): Record<string, Field<unknown>> {
  return Object.fromEntries(
    declared.map((attribute) => [
      `attributes.${attribute.name}`,
      { type: termType(attribute), operators: listed, column: 'attributes', filterOnly: true, condition },
    ]),
  );
}

/**
 * Returns the expression that the index of migrations/0037 contains. Its statistics tell PostgreSQL how many products
 * have a value.
 */
function condition(operator: string, parameter: string): string {
  return operator === 'in'
    ? `attribute_terms(attributes) && ${parameter}`
    : `attribute_terms(attributes) @> ARRAY[${parameter}]`;
}

/** Numbers as PostgreSQL writes those of a JSON document. */
const digits = /^-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,40})?$/;

/** Returns a number as the index contains it; undefined for other values, and when it is written with an exponent. */
function writtenNumber(value: unknown): string | undefined {
  const written = String(value);
  return typeof value === 'number' && digits.test(written) ? written : undefined;
}

/**
 * Returns the number in a string as the index contains it. Undefined when the string is not a number, or has too many
 * digits.
 */
function numberFrom(text: string): string | undefined {
  return digits.test(text) && isExact(text) ? writtenNumber(Number(text)) : undefined;
}

/** Writes values as the index contains them: `colour=red`, `size=42.5`. */
function termType({ name, type }: DeclaredAttribute): FieldType {
  const prefix = `${name}=`;
  const given = text(100);
  const isNumber = type === 'number';
  const term = (value: unknown) => (value === undefined ? undefined : `${prefix}${value}`);
  const valueIn = (stored: string | number) => String(stored).slice(prefix.length);
  return {
    cast: 'text',
    expects: isNumber ? 'a number of at most 15 digits without an exponent, such as 9.5' : given.expects,
    fromText: (written) => term(isNumber ? numberFrom(written) : given.fromText(written)),
    fromJson: (json) => term(isNumber ? writtenNumber(json) : given.fromJson(json)),
    toText: valueIn,
    toJson: (stored) => (isNumber ? Number(valueIn(stored)) : valueIn(stored)),
    write: JSON.stringify,
  };
}
