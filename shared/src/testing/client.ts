// An HTTP client for tests that validates every response by the OpenAPI documents.
import type { Answer, Contract, ContractOperation } from '../contract/index.ts';
import { problems } from '../problem/index.ts';
import type { AnswerBody } from './answer-body.ts';

export interface CallOptions {
  /** An access token, which is sent as bearer token. */
  readonly token?: string;
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  /** A body that is sent unchanged, instead of `body`. */
  readonly rawBody?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestAnswer {
  readonly status: number;
  /** The header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; undefined without a body. */
  readonly body: AnswerBody;
}

export interface TestClient {
  get(path: string, options?: CallOptions): Promise<TestAnswer>;
  post(path: string, options?: CallOptions): Promise<TestAnswer>;
  patch(path: string, options?: CallOptions): Promise<TestAnswer>;
  call(method: string, path: string, options?: CallOptions): Promise<TestAnswer>;
}

/**
 * Creates a client of `baseUrl`. Every call throws when its response has a status, header or member that the contracts
 * do not document. It also throws when a response outside every contract is not a problem document.
 * @param added headers, in lower case, that a proxy in front of the services adds to every response
 */
export function createClient(
  baseUrl: string,
  contracts: readonly Contract[],
  added: readonly string[] = [],
): TestClient {
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<TestAnswer> => {
    const payload = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: {
        ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
        ...(payload === undefined
          ? {}
          : { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
        ...options.headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
      redirect: 'manual',
    });
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    const ofService = Object.fromEntries(Object.entries(headers).filter(([name]) => !added.includes(name)));
    checkConformance(contracts, method, path, { status: response.status, headers: ofService, text });
    return {
      status: response.status,
      headers,
      text,
      body: text === '' || !isJson(headers) ? undefined : JSON.parse(text),
    };
  };
  return {
    get: (path, options) => call('GET', path, options),
    post: (path, options) => call('POST', path, options),
    patch: (path, options) => call('PATCH', path, options),
    call,
  };
}

function checkConformance(
  contracts: readonly Contract[],
  method: string,
  path: string,
  { status, headers, text }: { status: number; headers: Record<string, string>; text: string },
): void {
  if (headers['x-request-id'] === undefined) throw new Error(`${method} ${path}: the answer has no X-Request-Id`);
  const operation = findOperation(contracts, method === 'HEAD' ? 'GET' : method, path);
  const answer: Answer = { status, headers, body: text, withoutBody: method === 'HEAD' || status === 304 };
  const deviations =
    operation === undefined
      ? problemDeviations(answer)
      : [...operation.checkAnswer(answer), ...(isJson(headers) && hasBlanks(text) ? ['the JSON has blanks'] : [])];
  if (deviations.length > 0) {
    throw new Error(
      `${method} ${path} answered ${status} against its contract:\n  ` +
        `${deviations.join('\n  ')}\n${text.slice(0, 2000)}`,
    );
  }
}

function isJson(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type']?.includes('json') === true;
}

/** Returns whether a JSON text has blanks outside of its strings. A final line break is allowed. */
function hasBlanks(json: string): boolean {
  return /\s/.test(json.trimEnd().replace(/"(?:[^"\\]|\\.)*"/g, '""'));
}

/** Returns the operation of a request. @param path with or without a query */
export function findOperation(
  contracts: readonly Contract[],
  method: string,
  path: string,
): ContractOperation | undefined {
  const fits = (template: string): boolean => {
    const names = template.split('/');
    const parts = (path.split('?')[0] ?? '').split('/');
    return (
      names.length === parts.length &&
      names.every((name, index) => name === parts[index] || (name.startsWith('{') && parts[index] !== ''))
    );
  };
  const candidates = contracts
    .flatMap(({ operations }) => operations)
    .filter((operation) => operation.method === method.toLowerCase() && fits(operation.path));
  return candidates.find(({ path: template }) => !template.includes('{')) ?? candidates[0];
}

function problemDeviations({ status, headers, body, withoutBody }: Answer): string[] {
  if (status < 400 || withoutBody === true) return [];
  if (headers['content-type'] !== 'application/problem+json')
    return [`media type ${headers['content-type']} is no problem document`];
  const { type, title, status: said, detail, instance, code } = JSON.parse(body) as Record<string, unknown>;
  const known = typeof code === 'string' && Object.hasOwn(problems, code);
  const whole = [type, title, detail, instance].every((member) => typeof member === 'string');
  return known && whole && said === status && type === `/problems/${code}`
    ? []
    : ['the body is no problem document of ours'];
}
