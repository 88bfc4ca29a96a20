// Parses the header section of a request: rejects it, or splits it into fields for the gateway and fields for the
// upstream.
import { Problem } from '@shop/shared/problem';

export interface HeaderFields {
  /** Flat list of the end-to-end fields for the upstream, in their original order. */
  readonly forwardable: string[];
  /** Fields that the gateway itself reads. Each occurs at most once in the request. */
  readonly single: ReadonlyMap<string, string>;
  /** All values of X-Forwarded-For, joined; used only after trusted proxies. */
  readonly forwardedFor: string;
  readonly forwardedProto: string;
}

const maximumFields = 100;

// Fields that may occur only once, because the gateway and a service could read duplicates differently.
const singletons = new Set([
  'host',
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'expect',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'x-request-id',
  'traceparent',
  'tracestate',
]);

// Hop-by-hop fields (RFC 9110 section 7.6.1), and fields that only the gateway may set.
const kept = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'content-length',
  'cookie',
  'forwarded',
  'via',
  'x-request-id',
  'traceparent',
  'tracestate',
  'request-timeout-ms',
  'x-account-id',
  'x-known-client',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'x-original-url',
  'x-rewrite-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
const keptPrefixes = ['x-forwarded-', 'eg-'];

/**
 * Reads the raw header list of Node (name, value, name, value …).
 * @throws Problem 431 past `maximum` bytes or 100 fields, 400 for a duplicate of a field that may occur only once
 */
export function readHeaderFields(raw: readonly string[], maximum: number): HeaderFields {
  if (raw.length > 2 * maximumFields) throw tooLarge(`There are more than ${maximumFields} header fields.`);
  const single = new Map<string, string>();
  const forwardable: string[] = [];
  let connection = '';
  let forwardedFor = '';
  let forwardedProto = '';
  let bytes = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    const value = raw[index + 1] ?? '';
    bytes += name.length + value.length + 4;
    if (singletons.has(name)) {
      if (single.has(name)) throw repeated(name);
      single.set(name, value);
    }
    if (!isKept(name)) forwardable.push(name, value);
    else if (name === 'connection') connection += `,${value}`;
    else if (name === 'x-forwarded-for') forwardedFor += `,${value}`;
    else if (name === 'x-forwarded-proto') forwardedProto = value;
  }
  if (bytes > maximum) throw tooLarge(`The header fields are larger than ${maximum} bytes.`);
  const fields = { forwardable, single, forwardedFor, forwardedProto };
  return /^,(?:keep-alive|close)?$/i.test(connection) || connection === '' ? fields : withoutNamed(fields, connection);
}

/**
 * Removes the fields that `Connection` names, also for the gateway itself, so that it and the upstream see the same
 * request.
 */
function withoutNamed(fields: HeaderFields & { single: Map<string, string> }, connection: string): HeaderFields {
  const named = new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
  const { forwardable, single } = fields;
  for (const name of named) if (name !== 'host' && !kept.has(name)) single.delete(name);
  const remaining: string[] = [];
  for (let index = 0; index < forwardable.length; index += 2) {
    const name = forwardable[index] ?? '';
    if (!named.has(name)) remaining.push(name, forwardable[index + 1] ?? '');
  }
  return { ...fields, forwardable: remaining };
}

/**
 * Returns whether the field stays in the gateway and is not forwarded. Many servers convert an underscore into a
 * hyphen, so a name with an underscore could be read as such a field.
 */
function isKept(name: string): boolean {
  return kept.has(name) || name.includes('_') || keptPrefixes.some((prefix) => name.startsWith(prefix));
}

function repeated(header: string): Problem {
  const detail = `The header field ${header} may be given once.`;
  return new Problem('invalid-request', detail, { errors: [{ header, detail }] });
}

function tooLarge(detail: string): Problem {
  return new Problem('header-fields-too-large', detail);
}
