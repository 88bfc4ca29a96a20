// One request in curl, JavaScript, Python and the typed client.
import type { Tab } from '../code-block.ts';
import { toMark } from '../own-values.ts';
import { clientFunctions } from './client-functions.ts';
import { javascriptLiteral, pythonLiteral } from './literals.ts';

export interface ExampleRequest {
  readonly method: string;
  /** The path as the contract has it, with parameters in braces. */
  readonly path: string;
  /** Values of the path's parameters. */
  readonly pathValues: Readonly<Record<string, string>>;
  /** Values as in the contract: a string, a number or a list of strings. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Whether an access token is needed. */
  readonly secured: boolean;
  /** Whether an account logs in for it. A machine has a token instead. */
  readonly byAccount: boolean;
  readonly keyed: boolean;
  readonly body?: { readonly type: string; readonly value: unknown } | undefined;
  /** Whether the operation accepts a body. The example may omit it. */
  readonly takesBody: boolean;
  /** Whether the response has a body. */
  readonly answers: boolean;
  /** Whether the response is a stream of events, which does not end. */
  readonly streams: boolean;
}

const bearer = `Authorization: \`Bearer \${token}\``;

/** Returns the request in each language. */
export function toSnippets(request: ExampleRequest): Tab[] {
  return [
    { id: 'curl', title: 'curl', language: 'bash', text: curlOf(request) },
    { id: 'javascript', title: 'JavaScript', language: 'javascript', text: javascriptOf(request) },
    { id: 'python', title: 'Python', language: 'python', text: pythonOf(request) },
    { id: 'client', title: '@shop/client', language: 'typescript', text: clientOf(request) },
  ];
}

function addressOf({ path, pathValues, query }: ExampleRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (place, name: string) => pathValues[name] ?? place);
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((one) => `${name}=${encodeURIComponent(String(one)).replaceAll(/%3A/g, ':').replaceAll(/%2C/g, ',')}`),
  );
  return `${toMark('origin')}${filled}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

function curlOf(request: ExampleRequest): string {
  const { method, secured, body, streams } = request;
  return curl({
    unbuffered: streams,
    method,
    address: addressOf(request),
    headers: [
      ...(secured ? ['Authorization: Bearer $TOKEN'] : []),
      ...(body === undefined ? [] : [`Content-Type: ${body.type}`]),
    ],
    body: body === undefined ? undefined : textOfBody(body.value),
  });
}

/** Returns a body as it is sent. A body that is not JSON is already a string. */
export function textOfBody(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

export interface CurlRequest {
  readonly method: string;
  readonly address: string;
  /** Variables of the shell, such as `$TOKEN`, are expanded in every part. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  /** Whether the response is printed as it arrives. */
  readonly unbuffered?: boolean;
}

/** Returns a command line of a POSIX shell. */
export function curl({ method, address, headers, body, unbuffered = false }: CurlRequest): string {
  const usual = body === undefined ? 'GET' : 'POST';
  return [
    `curl ${unbuffered ? '-N ' : ''}${method === usual ? '' : `-X ${method} `}${expanded(address)}`,
    ...headers.map((header) => `-H ${expanded(header)}`),
    ...(body === undefined
      ? []
      : [`${body.endsWith('\n') ? '--data-binary' : '-d'} ${quoted(body).replaceAll(/\$[A-Z_]+/g, "'$&'")}`]),
  ].join(' \\\n  ');
}

/** Returns an address or a header, which contain no character that is special in double quotes. */
function expanded(text: string): string {
  return text.includes('$') ? `"${text}"` : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function javascriptOf(request: ExampleRequest): string {
  const { method, secured, keyed, body, answers, streams } = request;
  if (streams)
    return `const events = new EventSource('${addressOf(request)}');
events.addEventListener('change', ({ data }) => console.log(JSON.parse(data)));`;
  const headers = [
    ...(secured ? [bearer] : []),
    ...(keyed ? ["'Idempotency-Key': crypto.randomUUID()"] : []),
    ...(body === undefined ? [] : [`'Content-Type': '${body.type}'`]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: {\n    ${headers.join(',\n    ')},\n  }`]),
    ...(body === undefined ? [] : [`body: ${javascriptBody(body.value)}`]),
  ];
  const given = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`;
  return `const response = await fetch('${addressOf(request)}'${given});
console.log(response.status${answers ? ', await response.json()' : ''});`;
}

function javascriptBody(value: unknown): string {
  const literal = javascriptLiteral(value, '  ');
  return typeof value === 'string' ? literal : `JSON.stringify(${literal})`;
}

function pythonOf(request: ExampleRequest): string {
  const { method, secured, keyed, body, answers, streams } = request;
  const headers = [
    ...(secured ? ['"Authorization": f"Bearer {token}"'] : []),
    ...(keyed ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
    ...(body === undefined || body.type === 'application/json' ? [] : [`"Content-Type": "${body.type}"`]),
  ];
  const options = [
    `"${addressOf(request)}"`,
    ...(headers.length === 0 ? [] : [`headers={\n        ${headers.join(',\n        ')},\n    }`]),
    ...(body === undefined
      ? []
      : [`${typeof body.value === 'string' ? 'data' : 'json'}=${pythonLiteral(body.value, '    ')}`]),
    ...(streams ? ['stream=True'] : []),
  ];
  const result = streams
    ? 'for line in response.iter_lines(decode_unicode=True):\n    print(line)'
    : `print(response.status_code${answers ? ', response.json()' : ''})`;
  return `${keyed ? 'import uuid\n\n' : ''}import requests

response = requests.${method.toLowerCase()}(
    ${options.join(',\n    ')},
)
${result}`;
}

function clientOf(request: ExampleRequest): string {
  const { method, path, query, secured, byAccount, streams } = request;
  const login = `await shop.logIn({ email: '${toMark('email')}', password: 'a long and quiet river' });\n`;
  const name = clientFunctions[`${method} ${path}`];
  const hasFunction = name !== undefined && Object.keys(query).length === 0;
  return `import { createShop } from '@shop/client';

const shop = createShop({ baseUrl: '${toMark('origin')}' });
${secured && byAccount ? login : ''}${streams ? followed : hasFunction ? functionCall(request, name) : rawCall(request)}`;
}

/** The client reads the pages of changes instead of the stream. */
const followed = 'for await (const { items } of shop.changes()) console.log(items);';

/** Returns the header fields that the client does not set itself. */
function headersOf({ secured, byAccount, body }: ExampleRequest): string[] {
  return [
    ...(secured && !byAccount ? [bearer] : []),
    ...(body === undefined || body.type === 'application/json' ? [] : [`'Content-Type': '${body.type}'`]),
  ];
}

/** Returns a call of the function that the client has for the operation: the id, the body, and the options. */
function functionCall(request: ExampleRequest, name: string): string {
  const { pathValues, keyed, body, takesBody, answers, secured, byAccount } = request;
  const options = [...(keyed ? ['idempotencyKey'] : []), ...(secured && !byAccount ? [`headers: { ${bearer} }`] : [])];
  const given = [
    ...Object.values(pathValues).map((value) => javascriptLiteral(value)),
    ...(takesBody ? [javascriptLiteral(body?.value ?? {})] : []),
    ...(options.length === 0 ? [] : [`{ ${options.join(', ')} }`]),
  ];
  const key =
    '// Keep the key: when the program repeats the call with it, the effect is the same as once.\nconst idempotencyKey = crypto.randomUUID();\n';
  const call = `await shop.${name}(${given.join(', ')});`;
  return `${keyed ? key : ''}${answers ? `const result = ${call}\nconsole.log(result);` : call}`;
}

function rawCall(request: ExampleRequest): string {
  const { method, path, pathValues, query, body, answers } = request;
  const headers = headersOf(request);
  const params = [
    ...(Object.keys(pathValues).length === 0 ? [] : [`path: ${javascriptLiteral(pathValues, '    ')}`]),
    ...(Object.keys(query).length === 0 ? [] : [`query: ${javascriptLiteral(query, '    ')}`]),
  ];
  const options = [
    ...(params.length === 0 ? [] : [`params: { ${params.join(', ')} }`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: ${javascriptLiteral(body.value, '  ')}`]),
  ];
  const given = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`;
  return `const { ${answers ? 'data, ' : ''}error, response } = await shop.call.${method}('${path}'${given});
console.log(response.status, ${answers ? 'data ?? ' : ''}error);`;
}
