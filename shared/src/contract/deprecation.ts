// Adds header fields for deprecated operations, parameters and members, as marked in the OpenAPI document.
import { dereference, locate, type Node, toNode } from './openapi-document.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * Returns the response headers for a request with this target, these header fields and this body; undefined when the
 * request uses nothing that is deprecated.
 */
export type Deprecation = (request: {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}) => Headers | undefined;

interface Given {
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Node;
}

interface Mark {
  readonly isGiven: (given: Given) => boolean;
  /** The time of the deprecation, in milliseconds since 1970. */
  readonly since: number;
  readonly sunset: number | undefined;
  readonly link: string | undefined;
}

/**
 * Returns the headers for a request that uses a `deprecated` operation, parameter, or schema of a member of its body.
 * `Deprecation` (RFC 9745) is set from `x-deprecated-at`, `Sunset` (RFC 8594) from `x-sunset-at`, and `Link` from
 * `x-deprecation-link`. Both times are RFC 3339 dates, and the earliest of several counts.
 * @param parameters locations in the document
 * @param body schema of the body
 * @throws Error for `deprecated` without `x-deprecated-at`
 */
export function findDeprecation(
  document: Node,
  operation: Node,
  parameters: readonly (readonly string[])[],
  body: unknown,
): Deprecation {
  const marked: [Node, string, Mark['isGiven']][] = [
    [operation, String(operation.operationId), () => true],
    ...parameters.map((at): [Node, string, Mark['isGiven']] => {
      const node = locate(document, at)?.node ?? {};
      const name = String(node.name);
      const isGiven: Mark['isGiven'] = ({ query, headers }) =>
        node.in === 'query' ? query.has(name) : headers[name.toLowerCase()] !== undefined;
      return [node, `the parameter ${name}`, isGiven];
    }),
    ...formsOf(document, body).map(([name, form]): [Node, string, Mark['isGiven']] => [
      form,
      `a form of the member ${name}`,
      (given) => hasType(given.body[name], form.type),
    ]),
  ];
  const marks = marked
    .filter(([{ deprecated }]) => deprecated === true)
    .map(([node, what, isGiven]) => readMark(node, what, isGiven));
  if (marks.length === 0) return () => undefined;
  return ({ url, headers, body: sent }) => {
    const given = { query: new URLSearchParams(url.split('?')[1]), headers, body: toNode(sent) };
    return headersOf(marks.filter(({ isGiven }) => isGiven(given)));
  };
}

/** Returns each permitted schema of each member of a body. */
function formsOf(document: Node, body: unknown): [string, Node][] {
  const { properties } = dereference(document, body);
  return Object.entries(toNode(properties)).flatMap(([name, property]) => {
    const { oneOf } = dereference(document, property);
    const forms: unknown[] = Array.isArray(oneOf) ? oneOf : [property];
    return forms.map((form): [string, Node] => [name, dereference(document, form)]);
  });
}

/** Returns whether a JSON value has the type of a schema. A schema without a type permits every value. */
function hasType(value: unknown, type: unknown): boolean {
  if (value === undefined) return false;
  if (type === 'integer' || type === 'number') return typeof value === 'number';
  if (type === 'object') return typeof value === 'object';
  return type === undefined || typeof value === type;
}

function readMark(node: Node, what: string, isGiven: Mark['isGiven']): Mark {
  const { 'x-deprecated-at': since, 'x-sunset-at': sunset, 'x-deprecation-link': link } = node;
  if (typeof since !== 'string') throw new Error(`${what} is deprecated and needs x-deprecated-at`);
  return {
    isGiven,
    since: Date.parse(since),
    sunset: typeof sunset === 'string' ? Date.parse(sunset) : undefined,
    link: typeof link === 'string' ? `<${link}>; rel="deprecation"; type="text/html"` : undefined,
  };
}

function headersOf(marks: readonly Mark[]): Headers | undefined {
  if (marks.length === 0) return undefined;
  const sunsets = marks.flatMap(({ sunset }) => sunset ?? []);
  const links = new Set(marks.flatMap(({ link }) => link ?? []));
  return {
    Deprecation: `@${Math.floor(Math.min(...marks.map(({ since }) => since)) / 1_000)}`,
    ...(sunsets.length > 0 ? { Sunset: new Date(Math.min(...sunsets)).toUTCString() } : {}),
    ...(links.size > 0 ? { Link: [...links].join(', ') } : {}),
  };
}
