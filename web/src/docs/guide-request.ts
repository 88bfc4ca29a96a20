// The example requests of a guide as command lines, which can be pasted one after the other.
import { isOwnValue, toMark } from './own-values.ts';
import { curl } from './reference/snippets.ts';

/** A value that the response to a request has, and that later requests of a page need. */
interface Given {
  /** Matches the request line and the body. */
  readonly request: RegExp;
  /** The placeholder of the value. */
  readonly name: string;
  /** The member of the response with the value. */
  readonly member: string;
}

const givens: readonly Given[] = [
  { request: /^POST \/v1\/tokens\n.*"password"/s, name: 'accessToken', member: 'access_token' },
  { request: /^POST \/v1\/tokens\n.*"client_credentials"/s, name: 'payerToken', member: 'access_token' },
  { request: /^POST \/v1\/orders\n/, name: 'orderId', member: 'id' },
  { request: /^POST \/v1\/orders\/\{orderId\}\/returns\n/, name: 'returnId', member: 'id' },
  { request: /^(?:GET|POST) \/v1\/products[?\n]/, name: 'productId', member: 'id' },
  { request: /^GET \/v1\/products[?\n]/, name: 'nextCursor', member: 'nextCursor' },
  { request: /^GET \/v1\/changes\?/, name: 'changesCursor', member: 'nextCursor' },
  { request: /^POST \/v1\/webhooks\n/, name: 'webhookId', member: 'id' },
  { request: /^POST \/v1\/products\/imports\n/, name: 'importId', member: 'id' },
  { request: /^GET \/v1\/accounts\?/, name: 'customerId', member: 'id' },
];

/** Placeholder → variable of the shell. */
export const variables: Readonly<Record<string, string>> = {
  accessToken: 'TOKEN',
  staffToken: 'STAFF_TOKEN',
  payerToken: 'PAYER_TOKEN',
  orderId: 'ORDER',
  returnId: 'RETURN',
  productId: 'PRODUCT',
  nextCursor: 'CURSOR',
  changesCursor: 'CHANGES_CURSOR',
  importId: 'IMPORT',
  webhookId: 'WEBHOOK',
  customerId: 'CUSTOMER',
};

/** Tokens are secret, so a page shows none: a reader without the request for one sets the variable. */
const tokens = ['accessToken', 'staffToken', 'payerToken'];

/** The command line of an example; undefined for other code. The examples of the page are given in their order. */
export type CommandLines = (text: string, language: string | undefined) => string | undefined;

/**
 * @param page the Markdown of the page. A line stores a value in a variable when a later example of the page needs it
 */
export function commandLines(page: string): CommandLines {
  const known = new Set(tokens);
  let position = 0;
  return (text, language) => {
    const [first = ''] = text.split('\n');
    position = Math.max(position, page.indexOf(first, position) + first.length);
    const line = exampleInCurl(text, language, known);
    if (line === undefined) return undefined;
    const blocks = page.slice(position).split(/^ *```/m);
    const later = blocks.filter((block) => block.startsWith('http\n'));
    const given = givens.find(
      ({ request, name }) => request.test(`${text}\n`) && later.some((block) => block.includes(`{${name}}`)),
    );
    if (given === undefined) return line;
    known.add(given.name);
    const variable = variables[given.name] ?? '';
    const request = line.replace(/^curl /, 'curl -sS ');
    const member = `sed 's/.*"${given.member}":"\\([^"]*\\).*/\\1/'`;
    // A token is not printed, because it is a secret. Other responses are: they can have what is shown only once.
    if (tokens.includes(given.name)) return `${variable}=$(${request} | ${member})`;
    const printed = `printf '%s\\n' "$RESPONSE"`;
    return `RESPONSE=$(${request})\n${printed}\n${variable}=$(${printed} | ${member})`;
  };
}

/** @param text an HTTP message, or a request line with a body and `→ …` lines about the response */
function exampleInCurl(text: string, language: string | undefined, known: ReadonlySet<string>): string | undefined {
  const [, method = '', target = ''] = /^(GET|POST|PATCH|DELETE) (\/\S.*)/.exec(text) ?? [];
  if (method === '' || (language !== undefined && language !== '' && language !== 'http')) return undefined;
  const { headers, body } = language === 'http' ? message(text) : short(text);
  return curl({
    method,
    address: withPlaceholders(`${toMark('origin')}${encodeURI(target)}`, known),
    headers: headers.map((header) => withPlaceholders(header, known)),
    body: body === undefined ? undefined : withPlaceholders(body, known),
  });
}

function message(text: string): { headers: string[]; body: string | undefined } {
  const [head = '', ...rest] = text.split('\n\n');
  return { headers: head.split('\n').slice(1), body: rest.length === 0 ? undefined : rest.join('\n\n') };
}

function short(text: string): { headers: string[]; body: string | undefined } {
  const body = text
    .split('\n')
    .slice(1)
    .filter((line) => !line.startsWith('→'))
    .join('\n');
  return body === '' ? { headers: [], body: undefined } : { headers: ['Content-Type: application/json'], body };
}

/** Replaces placeholders in braces and the example's e-mail address. */
function withPlaceholders(text: string, known: ReadonlySet<string>): string {
  return text
    .replaceAll('kim@example.com', toMark('email'))
    .replaceAll(/(?:\{|%7B)(\w+)(?:\}|%7D)/g, (place, name: string) => {
      if (known.has(name)) return `$${variables[name] ?? ''}`;
      return isOwnValue(name) ? toMark(name) : place;
    });
}
