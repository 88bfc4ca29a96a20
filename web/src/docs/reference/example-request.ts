// The request that the examples of an operation send.
import { isOwnValue, type OwnValue, toMark, withMarks } from '../own-values.ts';
import type { OperationView, ParameterView } from './operation-view.ts';
import type { ExampleRequest } from './snippets.ts';

/** The parameters that an example of a list shows, where they have an example. */
const shownParameters: ReadonlySet<string> = new Set(['price', 'inStock', 'status', 'totalCost', 'sort']);
const shortPage = 5;

/** Returns a request with the first example of the body, and placeholders instead of the values of the reader. */
export function exampleRequest(operation: OperationView): ExampleRequest {
  const { method, path, parameters, body, security, responses } = operation;
  const example = body?.examples[0];
  return {
    method,
    path,
    pathValues: Object.fromEntries(
      parameters.filter(({ place }) => place === 'path').map((parameter) => [parameter.name, pathValue(parameter)]),
    ),
    query: queryOf(parameters),
    secured: security.access === 'required',
    byAccount: security.scopes.every((scope) => !machineOnly.has(scope)),
    keyed: method === 'POST' && parameters.some(({ name }) => name === 'Idempotency-Key'),
    body:
      body === undefined || example === undefined ? undefined : { type: body.type, value: withMarks(example.value) },
    takesBody: body !== undefined,
    answers: responses.some(({ status, body: answer }) => status.startsWith('2') && answer !== undefined),
    streams: responses.some(({ body: answer }) => answer?.type === 'text/event-stream'),
  };
}

const machineOnly: ReadonlySet<string> = new Set(['payments:write']);

/** Returns the value of the reader that a path parameter is; undefined for another parameter. */
export function findOwnValue({ name, place, schema }: ParameterView): OwnValue | undefined {
  if (place !== 'path') return undefined;
  // Staff uses the account id of a customer. A customer may use `me`.
  if (name === 'accountId' && !JSON.stringify(schema).includes('"me"')) return 'customerId';
  return isOwnValue(name) ? name : undefined;
}

function pathValue(parameter: ParameterView): string {
  const own = findOwnValue(parameter);
  return own === undefined ? `{${parameter.name}}` : toMark(own);
}

/** Returns a few conditions, and the limit of a short page. */
function queryOf(parameters: readonly ParameterView[]): Record<string, unknown> {
  const ofQuery = parameters.filter(({ place }) => place === 'query');
  const entries = ofQuery.flatMap(({ name, examples }): [string, unknown][] => {
    if (name === 'email') return [[name, toMark(name)]];
    if (name === 'limit') return [[name, shortPage]];
    return shownParameters.has(name) && examples.length > 0 ? [[name, examples[0]]] : [];
  });
  return Object.fromEntries(entries);
}
