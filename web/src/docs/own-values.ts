// The reader's own values in examples: ids, the e-mail address, and the shop's address. An example contains
// placeholders. A page renders each placeholder as an element, into which the browser writes the value that the reader
// has given.
import { escapeHtml } from '@shop/shared/runtime';

/** The content of a placeholder until the reader gives a value. */
const shownUntilGiven = {
  origin: 'http://localhost:8080',
  accountId: 'me',
  customerId: '01931f6e-2d00-7c3a-8d51-5f3b6a1c0a01',
  orderId: '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01',
  productId: '01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01',
  sessionId: '01931f6e-5a10-7c3a-8d51-5f3b6a1c0c01',
  importId: '01931f6e-7d00-7c3a-8d51-5f3b6a1c0d01',
  email: 'kim@example.com',
} as const;

export type OwnValue = keyof typeof shownUntilGiven;

/** Members of request bodies that are values of the reader. */
const members: ReadonlySet<string> = new Set<OwnValue>(['productId', 'orderId', 'email']);

const marks = /OWN_([A-Za-z]+)_VALUE/g;

export function isOwnValue(name: string): name is OwnValue {
  return Object.hasOwn(shownUntilGiven, name);
}

/** Returns a placeholder for the value that no quotation, URL or highlighter changes. */
export function toMark(name: OwnValue): string {
  return `OWN_${name}_VALUE`;
}

/** Returns a copy of a request body with placeholders. Of several equal members, only the first is replaced. */
export function withMarks(body: unknown): unknown {
  const left = new Set(members);
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) =>
        typeof member === 'string' && isOwnValue(name) && left.delete(name)
          ? [name, toMark(name)]
          : [name, walk(member)],
      ),
    );
  };
  return walk(body);
}

/** Returns the values of the placeholders in a string, each once. */
export function marksIn(text: string): OwnValue[] {
  return [...new Set([...text.matchAll(marks)].flatMap(([, name = '']) => (isOwnValue(name) ? [name] : [])))];
}

/** Replaces placeholders with the values that are shown until the reader gives others. */
export function withoutMarks(text: string): string {
  return text.replaceAll(marks, (mark, name: string) => (isOwnValue(name) ? shownUntilGiven[name] : mark));
}

/** Replaces placeholders in HTML with elements. */
export function marksAsHtml(html: string): string {
  return html.replaceAll(marks, (mark, name: string) =>
    isOwnValue(name) ? `<span class="own" data-own="${name}">${escapeHtml(shownUntilGiven[name])}</span>` : mark,
  );
}
