// Tells clients of a deprecated operation or parameter so, from the marks in the OpenAPI document.
import { locate, type Node } from './openapi-document.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * The answer headers of a request with this target and these header fields; undefined when it has nothing that is
 * deprecated.
 */
export type Deprecation = (request: {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
}) => Headers | undefined;

interface Mark {
  readonly isGiven: (query: URLSearchParams, headers: Readonly<Record<string, unknown>>) => boolean;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly sunset: number | undefined;
  readonly link: string | undefined;
}

/**
 * What says of a request that its operation or a parameter in it is marked `deprecated`: `Deprecation` (RFC 9745) from
 * `x-deprecated-at`, `Sunset` (RFC 8594) from `x-sunset-at`, both RFC 3339 dates and of several the earliest, and
 * `Link` from `x-deprecation-link`.
 * @param parameters places in the document
 * @throws Error for a mark without `x-deprecated-at`
 */
export function deprecationOf(
  document: Node,
  operation: Node,
  parameters: readonly (readonly string[])[],
): Deprecation {
  const nodes = [operation, ...parameters.map((at) => locate(document, at)?.node ?? {})];
  const marks = nodes.filter(({ deprecated }) => deprecated === true).map(readMark);
  if (marks.length === 0) return () => undefined;
  return ({ url, headers }) => {
    const query = new URLSearchParams(url.split('?')[1]);
    return headersOf(marks.filter(({ isGiven }) => isGiven(query, headers)));
  };
}

function readMark(node: Node): Mark {
  const { 'x-deprecated-at': since, 'x-sunset-at': sunset, 'x-deprecation-link': link } = node;
  const name = String(node.name);
  if (typeof since !== 'string')
    throw new Error(`${node.operationId ?? `the parameter ${name}`} is deprecated and needs x-deprecated-at`);
  return {
    isGiven: (query, headers) =>
      node.in === undefined || (node.in === 'query' ? query.has(name) : headers[name.toLowerCase()] !== undefined),
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
