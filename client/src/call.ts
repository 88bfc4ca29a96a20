// The typed calls: a function for each HTTP method, with the paths, parameters, bodies and responses of the contract.
import { endpoints, type operations, type paths } from './contract.ts';
import { type Conditions, queryValues } from './criteria.ts';
import type { Send } from './repeat.ts';

export type OperationId = keyof operations;

type Method = 'get' | 'post' | 'patch' | 'delete';

/** The paths with this method. */
export type PathWith<Of extends Method> = {
  [Path in keyof paths]: paths[Path] extends { readonly [Each in Of]: { readonly responses: object } } ? Path : never;
}[keyof paths];

/** The JSON body of a response: the client asks for no pages. */
type Content<Answered> = Answered extends { readonly content: infer Media }
  ? Media[Exclude<keyof Media, 'text/html'>]
  : undefined;

type ContentOf<Operation, Status> = Operation extends { readonly responses: infer Responses }
  ? Content<Responses[keyof Responses & Status]>
  : never;

type Success = 200 | 201 | 202 | 204;

/** The body of a successful response. */
export type Data<Operation> = ContentOf<Operation, Success>;

/** The problem documents that the contract documents for an operation, with their codes. */
export type Failure<Operation> = Operation extends { readonly responses: infer Responses }
  ? Content<Responses[Exclude<keyof Responses, Success | 304>]>
  : never;

/**
 * `error` contains a problem document, or any other body as a string, or the status without a body, such as `304 Not
 * Modified`.
 */
export type Answer<Operation> =
  | { readonly data: Data<Operation>; readonly error?: never; readonly response: Response }
  | { readonly data?: never; readonly error: Failure<Operation>; readonly response: Response };

type RequiredKeys<Value> = { [Key in keyof Value]-?: object extends Pick<Value, Key> ? never : Key }[keyof Value];

/** Filters, `sort` and `fields` of a query have the notation of the contract or that of the lists of the client. */
type Query<Given> = {
  [Name in keyof Given]: Name extends 'sort'
    ? Given[Name] | readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[]
    : Name extends 'fields' | 'facets'
      ? Given[Name] | readonly string[]
      : NonNullable<Given[Name]> extends readonly string[]
        ? Given[Name] | Conditions
        : NonNullable<Given[Name]> extends Readonly<Record<string, string[]>>
          ? Given[Name] | Readonly<Record<string, string[] | Conditions>>
          : Given[Name];
};

type Given<Parameters> = {
  [Place in keyof Parameters]: Place extends 'query' ? Query<Parameters[Place]> : Parameters[Place];
};

type Params<Operation> = Operation extends { readonly parameters: infer Parameters }
  ? [RequiredKeys<Parameters>] extends [never]
    ? { readonly params?: Given<Parameters> }
    : { readonly params: Given<Parameters> }
  : never;

type Body<Operation> = Operation extends { readonly requestBody?: never }
  ? { readonly body?: never }
  : Operation extends { readonly requestBody: { readonly content: infer Media } }
    ? { readonly body: Media[keyof Media] }
    : Operation extends { readonly requestBody?: { readonly content: infer Media } }
      ? { readonly body?: Media[keyof Media] }
      : never;

type Init<Operation> = Params<Operation> &
  Body<Operation> &
  Omit<RequestInit, 'body' | 'headers' | 'method'> & { readonly headers?: Readonly<Record<string, string>> };

/** The parameters of a call after its path: optional when the operation needs none. */
export type InitOf<Operation> = [RequiredKeys<Init<Operation>>] extends [never]
  ? [init?: Init<Operation>]
  : [init: Init<Operation>];

type Caller<Of extends Method> = <Path extends PathWith<Of>>(
  path: Path,
  ...init: InitOf<paths[Path][Of]>
) => Promise<Answer<paths[Path][Of]>>;

export interface Calls {
  readonly GET: Caller<'get'>;
  readonly POST: Caller<'post'>;
  readonly PATCH: Caller<'patch'>;
  readonly DELETE: Caller<'delete'>;
}

interface AnyInit extends Omit<RequestInit, 'body'> {
  readonly params?: {
    readonly path?: Readonly<Record<string, unknown>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly header?: Readonly<Record<string, unknown>>;
  };
  readonly body?: unknown;
}

/** @param baseUrl without a trailing slash */
export function createCalls(baseUrl: string, send: Send): Calls {
  const caller =
    (method: string) =>
    async (path: string, init: AnyInit = {}): Promise<Answer<never>> => {
      const { signal, ...rest } = init;
      const response = await send(requestOf(baseUrl, method, path, rest), signal ?? undefined);
      const [content, isJson] = await contentOf(response);
      const answer =
        response.ok && isJson ? { data: content, response } : { error: content || statusOf(response), response };
      return answer as Answer<never>;
    };
  const calls = { GET: caller('GET'), POST: caller('POST'), PATCH: caller('PATCH'), DELETE: caller('DELETE') };
  return calls as Calls;
}

const json = /^application\/(?:[a-z-]+\+)?json$/;

function requestOf(baseUrl: string, method: string, path: string, init: AnyInit): Request {
  const { params = {}, body, headers: given, ...rest } = init;
  const headers = new Headers(given);
  for (const [name, value] of Object.entries(params.header ?? {}))
    if (value !== undefined) headers.set(name, String(value));
  const endpoint = endpoints[`${method} ${path}`];
  // The key is created once, so that every retry of this call has the same one.
  if (endpoint?.keyed && !headers.has('idempotency-key')) headers.set('Idempotency-Key', randomKey());
  const mediaType = endpoint?.mediaType ?? 'application/json';
  if (body !== undefined && !headers.has('content-type')) headers.set('Content-Type', mediaType);
  return new Request(`${baseUrl}${filled(path, params.path ?? {})}${queryOf(params.query ?? {}, endpoint?.filters)}`, {
    ...rest,
    method,
    headers,
    // A body that is not JSON, such as JSON lines, is sent as a string.
    ...(body !== undefined && { body: json.test(mediaType) ? JSON.stringify(body) : String(body) }),
  });
}

/** Returns a random key. `crypto.randomUUID` does not exist in pages without TLS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function filled(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

function queryOf(query: Readonly<Record<string, unknown>>, filters: readonly string[] = []): string {
  const pairs = Object.entries(query)
    .flatMap(([name, value]) => pairsOf(name, value, filters.includes(name)))
    .map((pair) => pair.map(encodeURIComponent).join('='));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/**
 * Returns names and values: one pair for each value of a filter, and `name.member` for each member of another object.
 */
function pairsOf(name: string, value: unknown, isFilter: boolean): [name: string, value: string][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    if (isFilter) return value.flatMap((each) => pairsOf(name, each, true));
    return [[name, value.map(spelled).join(',')]];
  }
  if (typeof value !== 'object') return [[name, String(value)]];
  if (isFilter) return queryValues(name, value).map((each) => [name, each]);
  return Object.entries(value).flatMap(([member, each]) => pairsOf(`${name}.${member}`, each, true));
}

/** Serializes a member of `fields`, or a criterion of `sort`. */
function spelled(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { field, direction } = value as { readonly field?: unknown; readonly direction?: unknown };
  return `${String(field)}:${String(direction)}`;
}

function statusOf({ status, statusText }: Response): string {
  return `${status} ${statusText}`.trimEnd();
}

/** Returns the body of a response, and whether it is JSON. An empty body belongs to a 204, or has no content at all. */
async function contentOf(response: Response): Promise<[content: unknown, isJson: boolean]> {
  const text = await response.text();
  if (text === '') return [undefined, true];
  try {
    return [JSON.parse(text), true];
  } catch {
    return [text, false];
  }
}
