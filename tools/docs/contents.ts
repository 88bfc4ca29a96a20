// The bodies of a published document: its requests and responses by media type, and their examples.
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';

export interface Content {
  /** Method, path, place and media type. */
  readonly where: string;
  /** `request`, or the status of the response. */
  readonly place: string;
  readonly type: string;
  readonly content: Node;
}

/** Returns each media type of each request body and response, including problem documents. */
export function contentsOf(document: Node): Content[] {
  const operations = Object.entries(toNode(document.paths)).flatMap(([path, item]) =>
    Object.entries(toNode(item)).flatMap(([method, node]) =>
      isNode(node) && method !== 'parameters' ? [{ name: `${method} ${path}`, node }] : [],
    ),
  );
  return operations.flatMap(({ name, node }) =>
    [['request', node.requestBody] as const, ...Object.entries(toNode(node.responses))].flatMap(([place, value]) =>
      Object.entries(toNode(dereference(document, value).content)).map(([type, content]) => ({
        where: `${name} ${place} ${type}`,
        place,
        type,
        content: toNode(content),
      })),
    ),
  );
}

/** The examples of a body, or else those of its schema. */
export function examplesOf(document: Node, content: Node): unknown[] {
  if ('example' in content) return [content.example];
  const named = Object.values(toNode(content.examples)).map((example) => dereference(document, example).value);
  const { examples } = dereference(document, content.schema);
  return named.length > 0 || !Array.isArray(examples) ? named : examples;
}
