// An example request of a guide as a command line.
import { isOwnValue, markOf } from './own-values.ts';
import { curl } from './reference/snippets.ts';

/** The names of the shell's variables for placeholders that are secret or that only a response gives. */
const variables: Readonly<Record<string, string>> = {
  accessToken: '$TOKEN',
  staffToken: '$STAFF_TOKEN',
  payerToken: '$PAYER_TOKEN',
};

/** Prints the access token of a response. */
const tokenOnly = `sed 's/.*"access_token":"\\([^"]*\\).*/\\1/'`;

/**
 * The command line of an example request; undefined for other code.
 * @param text an HTTP message, or a request line with a body and `→ …` lines about the response
 */
export function exampleInCurl(text: string, language: string | undefined): string | undefined {
  const [, method = '', target = ''] = /^(GET|POST|PATCH|DELETE) (\/\S.*)/.exec(text) ?? [];
  if (method === '' || (language !== undefined && language !== '' && language !== 'http')) return undefined;
  const { headers, body } = language === 'http' ? message(text) : short(text);
  const line = curl({
    method,
    address: withPlaceholders(`${markOf('origin')}${encodeURI(target)}`),
    headers: headers.map(withPlaceholders),
    body: body === undefined ? undefined : withPlaceholders(body),
  });
  return target === '/v1/tokens' && body?.includes('"password"') ? `TOKEN=$(${line} -s | ${tokenOnly})` : line;
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
function withPlaceholders(text: string): string {
  return text
    .replaceAll('kim@example.com', markOf('email'))
    .replaceAll(/(?:\{|%7B)(\w+)(?:\}|%7D)/g, (place, name: string) => {
      return variables[name] ?? (isOwnValue(name) ? markOf(name) : place);
    });
}
