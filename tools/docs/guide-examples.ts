// Reads the examples of the guides: requests with their responses, and TypeScript.
import { readFileSync } from 'node:fs';
import { type CommandLines, commandLines } from '../../web/src/docs/guide-request.ts';

export interface Exchange {
  readonly kind: 'http';
  readonly method: string;
  readonly target: string;
  readonly body: string | undefined;
  /** The command line that the page shows, with marks for the reader's own values. */
  readonly curl: string;
  /** The response in the guide. */
  readonly answer: ShownAnswer | undefined;
}

export interface ShownAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Snippet {
  readonly kind: 'ts';
  readonly code: string;
}

/**
 * Returns the examples in the order of the page. A block that begins with `HTTP/1.1` is the response to the request
 * before it.
 */
export function examplesOf(guide: string): (Exchange | Snippet)[] {
  const text = readFileSync(new URL(`../../docs/${guide}.md`, import.meta.url), 'utf8');
  const found: (Exchange | Snippet)[] = [];
  const commandLine = commandLines(text);
  for (const [, indent = '', language, content = ''] of text.matchAll(/^( *)```(http|ts)\n(.*?)\n *```$/gms)) {
    const block = content.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (language === 'ts') found.push({ kind: 'ts', code: block });
    else if (block.startsWith('HTTP/1.1 ')) {
      const last = found.pop();
      if (last?.kind !== 'http' || last.answer !== undefined) throw new Error(`${guide}: an answer without a request`);
      found.push({ ...last, answer: answerOf(block) });
    } else found.push(requestOf(block, commandLine));
  }
  return found;
}

function requestOf(block: string, commandLine: CommandLines): Exchange {
  const { first, body } = messageOf(block);
  const [method = '', target = ''] = first.split(' ');
  const curl = commandLine(block, 'http');
  if (curl === undefined) throw new Error(`${first} has no command line`);
  return { kind: 'http', method, target, body, curl, answer: undefined };
}

function answerOf(block: string): ShownAnswer {
  const { first, headers, body } = messageOf(block);
  return { status: Number(first.split(' ')[1]), headers, body: body === undefined ? undefined : JSON.parse(body) };
}

function messageOf(block: string): { first: string; headers: Record<string, string>; body: string | undefined } {
  const [head = '', ...rest] = block.split('\n\n');
  const [first = '', ...fields] = head.split('\n');
  const pairs = fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1).trim()]);
  return { first, headers: Object.fromEntries(pairs), body: rest.length === 0 ? undefined : rest.join('\n\n') };
}

/**
 * Returns the differences between a response and the example: missing members and other types. Values may differ unless
 * `exact`.
 */
export function differences(shown: unknown, given: unknown, at = ''): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(given)) return [`${at} is no list`];
    if (shown.length > 0 && given.length === 0) return [`${at} is empty`];
    // A list of faults is shown in full.
    if (at === '/errors' && shown.length !== given.length) return [`${at} are ${given.length}, not ${shown.length}`];
    return shown.flatMap((item, index) =>
      differences(item, given[Math.min(index, given.length - 1)], `${at}/${index}`),
    );
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof given !== 'object' || given === null) return [`${at} is no object`];
    return Object.entries(shown).flatMap(([name, value]) =>
      name in given ? differences(value, given[name as never], `${at}/${name}`) : [`${at}/${name} is missing`],
    );
  }
  const telling = /\/(code|status|state|reason|hasMore|token_type|parameter|pointer|header|allowedActions\/0)$/.test(
    at,
  );
  if (telling && shown !== given) return [`${at} is ${String(given)} instead of ${String(shown)}`];
  return typeof shown === typeof given ? [] : [`${at} is a ${typeof given} instead of a ${typeof shown}`];
}
