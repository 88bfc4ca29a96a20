// Compares a response with the OpenAPI document. Undocumented statuses, headers and members are deviations.
import { type Compiler, locate, type Node, type SchemaCheck, schemaAt, toNode } from './openapi-document.ts';
import { validationErrors } from './validation-errors.ts';

export interface Answer {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True for a response to HEAD and for a 304, which have no body to validate. */
  readonly withoutBody?: boolean;
}

/** Returns the deviations of a response from the document. */
export type ResponseCheck = (answer: Answer) => string[];

// Headers that HTTP, the server or the shop's own conventions add to every response. The documents list all others.
const everywhere = new Set([
  'content-type',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'cache-control',
  // A page has these, also when the client has it already.
  'content-language',
  'content-security-policy',
  'x-request-id',
  'traceparent',
  'deprecation',
  'sunset',
  // A deprecated operation adds this header, also to its errors.
  'link',
  // A stream has this header, which is for proxies.
  'x-accel-buffering',
  // An operation with an optional token adds this header when it ignores an invalid token.
  'www-authenticate',
]);

interface Documented {
  readonly headers: ReadonlySet<string>;
  readonly required: readonly string[];
  readonly checks: ReadonlyMap<string, SchemaCheck>;
}

/** Reads the responses of one operation, each at its first use. */
export function toResponseCheck(compiler: Compiler, at: readonly string[], responses: Node): ResponseCheck {
  const read = new Map<string, Documented>();
  return (answer) => {
    const status = String(answer.status);
    if (!(status in responses)) return [`status ${status} is not documented`];
    const documented = read.get(status) ?? readResponse(compiler, [...at, status]);
    read.set(status, documented);
    return [...headerDeviations(documented, answer), ...bodyDeviations(documented, answer)];
  };
}

function readResponse(compiler: Compiler, at: readonly string[]): Documented {
  const found = locate(compiler.document, at);
  if (found === undefined) throw new Error(`no response at ${at.join(' ')}`);
  const headers = Object.keys(toNode(found.node.headers));
  return {
    headers: new Set(headers.map((name) => name.toLowerCase())),
    required: headers
      .filter((name) => locate(compiler.document, [...found.at, 'headers', name])?.node.required === true)
      .map((name) => name.toLowerCase()),
    checks: new Map(
      Object.keys(toNode(found.node.content)).map((type) => [
        type,
        schemaAt(compiler, [...found.at, 'content', type, 'schema']),
      ]),
    ),
  };
}

function headerDeviations({ headers, required }: Documented, answer: Answer): string[] {
  const undocumented = Object.keys(answer.headers).filter((name) => !headers.has(name) && !everywhere.has(name));
  const missing = required.filter((name) => answer.headers[name] === undefined);
  return [
    ...undocumented.map((name) => `header ${name} is not documented`),
    ...missing.map((name) => `header ${name} is missing`),
  ];
}

function bodyDeviations({ checks }: Documented, answer: Answer): string[] {
  if (answer.withoutBody === true || (answer.body === '' && checks.size === 0)) return [];
  const type = answer.headers['content-type']?.split(';')[0] ?? '';
  const errorsOf = checks.get(type);
  if (errorsOf === undefined) return [`media type "${type}" is not documented`];
  const body: unknown = type.startsWith('text/') ? answer.body : JSON.parse(answer.body);
  return validationErrors(errorsOf(body)).map(({ pointer, detail }) => `body ${pointer} ${detail}`);
}
