// Validates the parameters and the body of a request against the OpenAPI document, and reports all faults.
import { type Fault, joinedFaults, maxFaults, Problem, toSummary } from '../problem/index.ts';
import { type Compiler, dereference, isNode, locate, type SchemaCheck, schemaAt } from './openapi-document.ts';
import { coerce, parseQueryString } from './query-string.ts';
import { unknownParameter } from './unknown-parameter.ts';
import { validationErrors } from './validation-errors.ts';

export type QueryValue = string | number | boolean | readonly string[];

export interface RawInput {
  readonly url: string;
  readonly path: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
  /** The faults that were found when the body was parsed. */
  readonly bodyFaults?: readonly Fault[];
}

export interface CheckedInput {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, QueryValue>>;
  /** The faults that the validation found. A parameter with a fault is not in `query`. */
  readonly faults: readonly Fault[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  /**
   * A parameter with `x-dotted` also permits every name that begins with its own name and a dot. The operation checks
   * these names.
   */
  readonly dotted: boolean;
  readonly type: unknown;
  readonly errorsOf: SchemaCheck;
}

/** Reads the parameter at a location in the document. Its schema is compiled at its first use. */
export function readParameter(compiler: Compiler, at: readonly string[]): Parameter {
  const found = locate(compiler.document, at);
  const { name, in: place, required, schema, 'x-dotted': dotted } = found?.node ?? {};
  if (found === undefined || typeof name !== 'string' || typeof place !== 'string')
    throw new Error(`${at.join(' ')} is no parameter`);
  const type = isNode(schema) ? dereference(compiler.document, schema).type : undefined;
  const errorsOf = schemaAt(compiler, [...found.at, 'schema']);
  return { name, in: place, required: required === true, dotted: dotted === true, type, errorsOf };
}

/** @throws Problem 404 for a path parameter that cannot identify a resource */
export function checkInput(
  parameters: readonly Parameter[],
  bodyErrorsOf: SchemaCheck | undefined,
  input: RawInput,
): CheckedInput {
  const faults: Fault[] = [];
  const query: Record<string, QueryValue> = {};
  const search = parseQueryString(input.url, faults);
  for (const parameter of parameters) {
    const { name, in: place, dotted, type, errorsOf } = parameter;
    if (place === 'path') {
      if (errorsOf(input.path[name]).length > 0) throw new Problem('not-found', 'There is nothing at this address.');
    } else if (place === 'header') {
      const details = faultsIn(parameter, input.headers[name.toLowerCase()]);
      faults.push(...details.map((detail) => ({ header: name, detail })));
    } else if (!dotted) {
      const values = search.get(name);
      const [first, second] = values ?? [];
      const value = type === 'array' || first === undefined ? values : coerce(first, type);
      const twice = type !== 'array' && second !== undefined;
      const details = twice ? ['must be given once'] : faultsIn(parameter, value);
      if (details.length === 0 && value !== undefined) query[name] = value;
      faults.push(...details.map((detail) => ({ parameter: name, detail })));
    }
  }
  const known = parameters.flatMap(({ name, in: place, dotted }) =>
    place !== 'query' ? [] : [dotted ? `${name}.*` : name],
  );
  const prefixes = parameters.flatMap(({ name, dotted }) => (dotted ? [`${name}.`] : []));
  for (const [name, values] of search) {
    if (faults.length >= maxFaults) break;
    if (prefixes.some((prefix) => name.startsWith(prefix))) query[name] = values;
    else if (!known.includes(name))
      faults.push({ parameter: name, detail: unknownParameter(name, values[0] ?? '', known) });
  }
  const { body, bodyFaults = [] } = input;
  const found = bodyErrorsOf === undefined || body === undefined ? [] : validationErrors(bodyErrorsOf(body));
  const ofContract = found.map(({ pointer, detail }) => ({ pointer, detail }));
  faults.push(...joinedFaults(bodyFaults, ofContract).slice(0, maxFaults));
  return { path: input.path, query, faults };
}

/**
 * @param found faults of the contract check
 * @param further faults that the operation found
 * @throws Problem 400 with all faults, if there are any
 */
export function refuseFaults(found: readonly Fault[], further: readonly Fault[] = []): void {
  const faults = joinedFaults(found, further);
  if (faults.length > 0) throw new Problem('invalid-request', toSummary(faults), { errors: faults });
}

/**
 * Returns the faults in the value of a header or of a query parameter, one sentence each; undefined when it is missing.
 */
function faultsIn({ required, errorsOf }: Parameter, value: unknown): string[] {
  if (value === undefined) return required ? ['is required'] : [];
  return validationErrors(errorsOf(value)).map(({ detail }) => detail);
}
