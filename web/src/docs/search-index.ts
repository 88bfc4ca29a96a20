// Creates the search index of the documentation: sections of guides, operations and problems, each with its content.
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';
import { problems } from '@shop/shared/problem';
import { isCode } from '../problems/problem-examples.ts';
import { problemTexts } from '../problems/problem-texts.ts';
import { textOf } from '../yaml-document.ts';
import type { Chapter } from './chapters.ts';
import { inlineMarkdown } from './guide.ts';
import type { OperationView } from './reference/operation-view.ts';
import { listCodes } from './reference/problem-view.ts';

export interface SearchEntry {
  readonly title: string;
  /** Where the entry is: its guide, or the method and path of the operation. */
  readonly page: string;
  readonly address: string;
  readonly text: string;
}

/** @param document the published document with the operations */
export function searchIndex(
  document: Node,
  operations: readonly OperationView[],
  chapters: readonly Chapter[],
): SearchEntry[] {
  return [
    ...otherPages,
    ...chapters.flatMap(({ title: chapter, guides }) =>
      guides.flatMap(({ title, address, html }) =>
        sectionsOf(html).map(({ id, title: section, text }, index): SearchEntry => {
          if (index === 0) return { title, page: chapter, address, text };
          return { title: section, page: title, address: `${address}#${id}`, text };
        }),
      ),
    ),
    ...operations.map((operation): SearchEntry => {
      const { method, path, summary, address } = operation;
      return { title: summary, page: `${method} ${path}`, address, text: textOfOperation(document, operation) };
    }),
    ...Object.keys(problems)
      .filter(isCode)
      .map((code): SearchEntry => {
        const { title, status } = problems[code];
        const { when, remedy } = problemTexts[code];
        return {
          title,
          page: `${status} ${code}`,
          address: `/problems/${code}`,
          text: plainText(inlineMarkdown(`${when} ${remedy}`)),
        };
      }),
  ];
}

const otherPages: readonly SearchEntry[] = [
  {
    title: 'Reference',
    page: 'All operations',
    address: '/docs/reference',
    text: 'Every operation with its parameters, bodies and responses, code in curl, JavaScript, Python and @shop/client, and a form to try it.',
  },
  {
    title: 'Downloads',
    page: 'Documentation',
    address: '/docs#downloads',
    text: 'The OpenAPI document, the AsyncAPI documents of the services, and llms.txt for language models.',
  },
  {
    title: 'Problems',
    page: 'All problem codes',
    address: '/problems',
    text: 'The codes of all errors, with their statuses.',
  },
  {
    title: 'Changelog',
    page: 'All versions',
    address: '/docs/changelog',
    text: 'What is new, changed and fixed in each release.',
  },
];

/** Returns the parts of a page between its headings. */
function sectionsOf(html: string): { id: string; title: string; text: string }[] {
  return html.split(/(?=<h[1-4] id=")/).map((part) => {
    const [heading = '', id = '', title = ''] = /^<h\d id="([^"]+)">(.*?)<\/h\d>/s.exec(part) ?? [];
    // The command line of an example request repeats the request.
    const text = part
      .slice(heading.length)
      .split(/(?=<fieldset>|<pre )/)
      .map((element) => {
        if (element.startsWith('<fieldset>')) return after(element, '</fieldset>');
        return /^<pre[^>]* data-tab="curl"/.test(element) ? after(element, '</pre>') : element;
      });
    return { id, title: plainText(title), text: plainText(text.join('')) };
  });
}

function after(html: string, end: string): string {
  return html.slice(html.indexOf(end) + end.length);
}

function textOfOperation(document: Node, operation: OperationView): string {
  const { id, tag, description, parameters, body } = operation;
  const parts = [
    plainText(inlineMarkdown(description)),
    ...parameters.map(({ name, description: meaning }) => `${name}: ${plainText(inlineMarkdown(meaning))}`),
    ...membersOf(document, body?.schema),
    ...listCodes(operation),
    id,
    tag,
  ];
  return [...new Set(parts)].join(' ');
}

/** Returns the names and descriptions of the members of a body. */
function membersOf(document: Node, value: unknown): string[] {
  const schema = dereference(document, value);
  const inner = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const members = Object.entries(toNode(schema.properties)).flatMap(([name, member]) => [
    `${name} ${plainText(inlineMarkdown(textOf(toNode(member).description)))}`.trim(),
    ...membersOf(document, member),
  ]);
  const items = isNode(schema.items) ? membersOf(document, schema.items) : [];
  return [...members, ...items, ...inner.flatMap((part: unknown) => membersOf(document, part))];
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
};

/** Returns the words of HTML. */
function plainText(html: string): string {
  return html
    .replaceAll(/<\/(?:p|li|td|th|tr|pre|div|h\d)>|<br>/g, ' ')
    .replaceAll(/<[^<>]+>/g, '')
    .replaceAll(/&[a-z\d#]+;/g, (entity) => entities[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
