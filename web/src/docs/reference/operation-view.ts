// The operations of the published document in the form in which the reference shows them.
import { dereference, isNode, type Node, outlineOperations, type Security, toNode } from '@shop/shared/contract';
import { textOf } from '../../yaml-document.ts';

export interface ParameterView {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Node;
  /** Values that show its notation, without values that mean no condition or the default. */
  readonly examples: readonly unknown[];
}

export interface Example {
  readonly title: string;
  readonly value: unknown;
}

export interface BodyView {
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: unknown;
  readonly examples: readonly Example[];
}

export interface ResponseView {
  /** A status, or `default`. */
  readonly status: string;
  readonly description: string;
  readonly headers: readonly { readonly name: string; readonly description: string }[];
  readonly body: Omit<BodyView, 'required' | 'description'> | undefined;
}

export interface OperationView {
  readonly id: string;
  /** The address of its page. */
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated: boolean;
  readonly security: Security;
  readonly parameters: readonly ParameterView[];
  readonly body: BodyView | undefined;
  readonly responses: readonly ResponseView[];
}

/** Returns every operation of the document, in its order. */
export function operationViews(document: Node): OperationView[] {
  return outlineOperations(document).map(({ operationId, method, path, security }) => {
    const item = toNode(toNode(document.paths)[path]);
    const operation = toNode(item[method]);
    const parameters = [item.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
    return {
      id: operationId,
      address: `/docs/reference/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      method: method.toUpperCase(),
      path,
      tag: Array.isArray(operation.tags) ? textOf(operation.tags[0]) : '',
      summary: textOf(operation.summary),
      description: textOf(operation.description),
      deprecated: operation.deprecated === true,
      security,
      parameters: parameters.map((parameter) => parameterView(dereference(document, parameter))),
      body: bodyView(document, dereference(document, operation.requestBody)),
      responses: Object.entries(toNode(operation.responses)).map(([status, response]) =>
        responseView(document, status, dereference(document, response)),
      ),
    };
  });
}

function parameterView(parameter: Node): ParameterView {
  const examples = Object.entries(toNode(parameter.examples)).flatMap(([name, example]) => {
    const { value } = toNode(example);
    return ['any', 'all', 'default'].includes(name) ? [] : [value];
  });
  return {
    name: textOf(parameter.name),
    place: parameter.in === 'path' || parameter.in === 'header' ? parameter.in : 'query',
    required: parameter.required === true,
    description: textOf(parameter.description),
    schema: toNode(parameter.schema),
    examples,
  };
}

function bodyView(document: Node, body: Node): BodyView | undefined {
  const [type, media] = Object.entries(toNode(body.content))[0] ?? [];
  if (type === undefined) return undefined;
  return {
    type,
    description: textOf(body.description),
    required: body.required === true,
    schema: toNode(media).schema,
    examples: examplesOf(document, toNode(media)),
  };
}

function responseView(document: Node, status: string, response: Node): ResponseView {
  const [type, media] = Object.entries(toNode(response.content))[0] ?? [];
  const headers = Object.entries(toNode(response.headers)).map(([name, header]) => ({
    name,
    description: textOf(dereference(document, header).description),
  }));
  const body =
    type === undefined
      ? undefined
      : { type, schema: toNode(media).schema, examples: examplesOf(document, toNode(media)) };
  return { status, description: textOf(response.description), headers, body };
}

/** Returns the examples of a media type, or else those of its schema. */
function examplesOf(document: Node, media: Node): Example[] {
  if ('example' in media) return [{ title: '', value: media.example }];
  const named = Object.entries(toNode(media.examples)).map(([name, given]) => {
    const { summary, value } = dereference(document, given);
    return { title: textOf(summary) || name, value };
  });
  if (named.length > 0) return named;
  const { examples } = dereference(document, media.schema);
  return (Array.isArray(examples) ? examples : []).map((value) => ({ title: '', value }));
}

/** Returns the operations of each tag, in the order of the document's tags. */
export function operationsByTag(
  document: Node,
  operations: readonly OperationView[],
): { readonly tag: string; readonly description: string; readonly operations: readonly OperationView[] }[] {
  const tags = Array.isArray(document.tags) ? document.tags.filter(isNode) : [];
  return tags.map(({ name, description }) => ({
    tag: textOf(name),
    description: textOf(description),
    operations: operations.filter(({ tag }) => tag === name),
  }));
}
