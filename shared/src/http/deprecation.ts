// Tells clients of a deprecated operation so, from the marks in the OpenAPI document.
import type { Node } from './openapi-document.ts';

/**
 * Answer headers of an operation that is marked `deprecated`: `Deprecation` (RFC 9745) from `x-deprecated-at`, `Sunset`
 * (RFC 8594) from `x-sunset-at`, both RFC 3339 dates, and `Link` from `x-deprecation-link`.
 */
export function deprecationHeaders(operation: Node): Readonly<Record<string, string>> {
  if (operation.deprecated !== true) return {};
  const { 'x-deprecated-at': since, 'x-sunset-at': sunset, 'x-deprecation-link': link } = operation;
  if (typeof since !== 'string') throw new Error(`${operation.operationId} is deprecated and needs x-deprecated-at`);
  return {
    Deprecation: `@${Math.floor(Date.parse(since) / 1000)}`,
    ...(typeof sunset === 'string' ? { Sunset: new Date(sunset).toUTCString() } : {}),
    ...(typeof link === 'string' ? { Link: `<${link}>; rel="deprecation"; type="text/html"` } : {}),
  };
}
