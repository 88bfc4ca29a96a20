// Converts the errors of the JSON Schema validator into faults with a text and a location.
import type { ErrorObject } from 'ajv';
import { pointerTo } from '../json/index.ts';
import { maxFaults, nearestName } from '../problem/index.ts';
import { toNode } from './openapi-document.ts';

/** One fault: a JSON Pointer into the validated value and a sentence about it. */
export interface ValidationFinding {
  readonly pointer: string;
  readonly detail: string;
}

/**
 * Returns the first fault at each location, in the order of the document, at most 100. Further faults of a value, such
 * as its length in addition to its format, usually follow from the first one.
 */
export function validationErrors(errors: readonly ErrorObject[]): ValidationFinding[] {
  const seen = new Map<string, ValidationFinding>();
  // A pattern describes the expected value, and a format only names it.
  const sorted = ofNearestForms(errors).toSorted(
    (one, other) => Number(one.keyword === 'format') - Number(other.keyword === 'format'),
  );
  // A misspelt member is one fault, and not also a missing member. A wrong part of an alternative is one fault, too.
  const meant = new Set(errors.map(meantBy));
  for (const error of sorted) {
    if (seen.size === maxFaults) break;
    const finding = findingOf(error);
    if (error.keyword === 'required' && meant.has(finding?.pointer)) continue;
    if (isCombination(error) && errors.some(({ instancePath }) => instancePath.startsWith(`${error.instancePath}/`)))
      continue;
    if (finding !== undefined && !seen.has(finding.pointer)) seen.set(finding.pointer, finding);
  }
  return [...seen.values()];
}

/**
 * When a value matches none of several alternatives, returns only the errors of the closest one: an alternative of the
 * same type with the fewest errors. If no alternative has its type, the error that names no alternative is returned.
 * The alternatives contain no `$ref`, because an error in a referenced schema does not identify its alternative.
 */
function ofNearestForms(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  const combined = new Set<ErrorObject>();
  for (const error of errors) {
    if (!isCombination(error)) continue;
    const start = `${error.schemaPath}/`;
    const inForms = errors.filter(({ schemaPath }) => schemaPath.startsWith(start));
    const forms = Map.groupBy(inForms, ({ schemaPath }) => schemaPath.slice(start.length).split('/')[0]);
    const [nearest] = [...forms.values()]
      .filter((form) => !form.some((each) => each.keyword === 'type' && each.instancePath === error.instancePath))
      .sort((a, b) => a.length - b.length);
    for (const each of inForms) if (nearest?.includes(each) !== true) dropped.add(each);
    if (nearest === undefined) continue;
    dropped.add(error);
    for (const each of nearest) if (isOfOtherForm(each, error)) combined.add(each);
  }
  return errors
    .filter((error) => !dropped.has(error))
    .map((error) => (combined.has(error) ? { ...error, keyword: 'combined' } : error));
}

function isCombination({ keyword }: ErrorObject): boolean {
  return keyword === 'oneOf' || keyword === 'anyOf';
}

/**
 * Returns whether an unknown member of one alternative is a member of another one, so that the two must not be
 * combined.
 */
function isOfOtherForm({ keyword, params }: ErrorObject, { schema }: ErrorObject): boolean {
  if (keyword !== 'additionalProperties' || !Array.isArray(schema)) return false;
  return schema.some((form) =>
    Object.keys(toNode(toNode(form).properties)).includes(String(params.additionalProperty)),
  );
}

function findingOf(error: ErrorObject): ValidationFinding | undefined {
  if (error.propertyName === undefined) return valueFinding(error);
  const finding = valueFinding(error);
  const pointer = pointerTo(error.instancePath, error.propertyName);
  return finding && { pointer, detail: `has a name that ${finding.detail}` };
}

function valueFinding(error: ErrorObject): ValidationFinding | undefined {
  const { keyword, instancePath, params } = error;
  const member = (name: unknown): string => pointerTo(instancePath, String(name));
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return { pointer: member(params.missingProperty), detail: 'is required' };
    case 'additionalProperties':
      return { pointer: member(params.additionalProperty), detail: unknownMember(error) };
    case 'combined': {
      const own = listOf(error.parentSchema?.required).join(' and ');
      return { pointer: member(params.additionalProperty), detail: `must not be given together with ${own}` };
    }
    case 'propertyNames': // the fault of the name is reported separately
      return undefined;
    case 'unevaluatedProperties':
      return { pointer: member(params.unevaluatedProperty), detail: 'is not a known member' };
    case 'enum':
      return {
        pointer: instancePath,
        detail: `must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`,
      };
    case 'const':
      return { pointer: instancePath, detail: `must be ${JSON.stringify(params.allowedValue)}` };
    case 'type':
      return { pointer: instancePath, detail: `must be ${[params.type].flat().join(' or ')}` };
    case 'anyOf':
    case 'oneOf':
      return { pointer: instancePath, detail: formDetail(error) };
    case '$ref':
    case 'allOf':
    case 'if': // the faults of its branch are reported separately
      return undefined;
    case 'pattern':
    case 'x-email-address':
      return { pointer: instancePath, detail: patternDetail(error) };
    default:
      return { pointer: instancePath, detail: inWords(error.message) };
  }
}

/** Returns all permitted types when no alternative has the type of the value. */
function formDetail({ schema }: ErrorObject): string {
  const types = listOf(schema).map((form) => toNode(form).type);
  return types.includes(undefined)
    ? 'must have one of the documented forms'
    : `must be ${[...new Set(types.flat())].join(' or ')}`;
}

/**
 * Corrects the grammar of a message: `must NOT have fewer than 1 characters` → `must not have fewer than 1 character`.
 */
function inWords(message = 'is not valid'): string {
  return message
    .replace('NOT', 'not')
    .replace(/\b1 (character|item)s$/, '1 $1')
    .replace(/\b1 properties$/, '1 member');
}

/** Returns the location of the member that an unknown member probably means. */
function meantBy(error: ErrorObject): string | undefined {
  const nearest = error.keyword === 'additionalProperties' ? nearestMember(error) : undefined;
  return nearest === undefined ? undefined : pointerTo(error.instancePath, nearest);
}

function nearestMember({ params, parentSchema }: ErrorObject): string | undefined {
  return nearestName(String(params.additionalProperty), Object.keys(toNode(parentSchema?.properties)));
}

function unknownMember(error: ErrorObject): string {
  const nearest = nearestMember(error);
  return nearest === undefined ? 'is not a known member' : `is not a known member; did you mean ${nearest}?`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns `x-pattern-detail` of a schema, which describes its pattern or `x-email-address` in words for clients. */
function patternDetail(error: ErrorObject): string {
  const meaning: unknown = error.parentSchema?.['x-pattern-detail'];
  return typeof meaning === 'string' ? meaning : 'does not have the documented form';
}
