// The header fields of a forwarded response.

import { commonHeaders } from '../entry/common-headers.ts';
import type { GatewayRequest } from '../entry/gateway-request.ts';

// Hop-by-hop fields (RFC 9110 section 7.6.1), product names, and fields that the gateway sets itself.
const droppedFields = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'server',
  'x-powered-by',
  'via',
  'date',
  'x-request-id',
  'traceparent',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'cross-origin-resource-policy',
  'content-security-policy',
  'strict-transport-security',
]);

/** The header fields of a response as undici passes them, with lower-case names. */
export type ResponseFields = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the header fields for the client: the gateway's own, and the end-to-end fields of the upstream. */
export function responseHeaders(request: GatewayRequest, status: number, fields: ResponseFields): string[] {
  // A page of a service states which styles it needs.
  const policy = fields['content-security-policy'];
  const headers = commonHeaders(request, typeof policy === 'string' ? policy : undefined);
  const named = namedBy(fields.connection);
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || droppedFields.has(name) || named?.includes(name)) continue;
    // RFC 9110 section 8.6: a response without content has no Content-Length.
    if (status === 204 && name === 'content-length') continue;
    if (typeof value === 'string') headers.push(name, value);
    else for (const one of value) headers.push(name, one);
  }
  return headers;
}

/**
 * Returns the fields that `Connection` names, on one line or on several. Its value is `keep-alive` in nearly every
 * response.
 */
function namedBy(connection: string | string[] | undefined): string[] | undefined {
  if (connection === undefined || connection === 'keep-alive') return undefined;
  const options = String(connection).toLowerCase().split(',');
  return options.map((option) => option.trim());
}
