// Converts the errors of the JSON Schema validator into faults with a text and a location.
import type { ErrorObject } from 'ajv';
import { pointerTo } from '../json/index.ts';
import { maxFaults } from '../problem/index.ts';

/** One fault: a JSON Pointer into the validated value and a sentence about it. */
export interface ValidationFinding {
  readonly pointer: string;
  readonly detail: string;
}

/** Returns all distinct faults, in the order of the document, at most 100. */
export function validationErrors(errors: readonly ErrorObject[]): ValidationFinding[] {
  const seen = new Map<string, ValidationFinding>();
  for (const error of ofNearestForms(errors)) {
    if (seen.size === maxFaults) break;
    const finding = findingOf(error);
    if (finding !== undefined) seen.set(`${finding.pointer} ${finding.detail}`, finding);
  }
  return [...seen.values()];
}

/**
 * When a value has none of several permitted forms, keeps only the errors of the closest form: one of the same type
 * with the fewest errors. If no form has its type, the error that names no form is kept. The forms contain no `$ref`,
 * because an error behind a `$ref` does not identify its form.
 */
function ofNearestForms(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const error of errors) {
    if (error.keyword !== 'oneOf' && error.keyword !== 'anyOf') continue;
    const start = `${error.schemaPath}/`;
    const inForms = errors.filter(({ schemaPath }) => schemaPath.startsWith(start));
    const forms = Map.groupBy(inForms, ({ schemaPath }) => schemaPath.slice(start.length).split('/')[0]);
    const [nearest] = [...forms.values()]
      .filter((form) => !form.some((each) => each.keyword === 'type' && each.instancePath === error.instancePath))
      .sort((a, b) => a.length - b.length);
    for (const each of inForms) if (nearest?.includes(each) !== true) dropped.add(each);
    if (nearest !== undefined) dropped.add(error);
  }
  return errors.filter((error) => !dropped.has(error));
}

function findingOf(error: ErrorObject): ValidationFinding | undefined {
  const { keyword, instancePath, params } = error;
  const member = (name: unknown): string => pointerTo(instancePath, String(name));
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return { pointer: member(params.missingProperty), detail: 'is required' };
    case 'additionalProperties':
      return { pointer: member(params.additionalProperty), detail: 'is not a known member' };
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
      return { pointer: instancePath, detail: 'must have one of the documented forms' };
    case '$ref':
    case 'allOf':
    case 'if': // what its branch missed is a finding of its own
      return undefined;
    case 'pattern':
    case 'x-email-address':
      return { pointer: instancePath, detail: patternDetail(error) };
    default:
      return { pointer: instancePath, detail: (error.message ?? 'is not valid').replace('NOT', 'not') };
  }
}

/**
 * `x-pattern-detail` of a schema describes its pattern or `x-email-address` in words, so that clients need not read a regular expression.
 */
function patternDetail(error: ErrorObject): string {
  const meaning: unknown = error.parentSchema?.['x-pattern-detail'];
  return typeof meaning === 'string' ? meaning : 'does not have the documented form';
}
