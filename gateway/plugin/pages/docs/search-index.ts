// What the search of the documentation finds: operations, guides with their headings, and problems.
import { problems } from '@shop/shared/problem';
import { isCode } from '../problems/problem-examples.ts';
import type { Guide } from './guide.ts';
import type { OperationView } from './reference/operation-view.ts';
import { codesOf } from './reference/problem-view.ts';

interface SearchEntry {
  readonly title: string;
  readonly kind: string;
  readonly address: string;
  /** Further words in lower case. */
  readonly words: string;
}

export function searchIndex(
  operations: readonly OperationView[],
  guides: readonly (Guide & { readonly address: string })[],
): SearchEntry[] {
  return [
    ...operations.map((operation): SearchEntry => {
      const { id, method, path, tag, summary, address, parameters } = operation;
      const names = parameters.map(({ name }) => name);
      const words = [id, method, path, tag, ...names, ...codesOf(operation)].join(' ').toLowerCase();
      return { title: summary, kind: `${method} ${path}`, address, words };
    }),
    ...guides.flatMap(({ title, address, headings }): SearchEntry[] => [
      { title, kind: 'Guide', address, words: '' },
      ...headings.map((heading) => ({
        title: heading.title,
        kind: title,
        address: `${address}#${heading.id}`,
        words: title.toLowerCase(),
      })),
    ]),
    ...Object.keys(problems)
      .filter(isCode)
      .map((code): SearchEntry => {
        const { title, status } = problems[code];
        return { title, kind: `${status} ${code}`, address: `/problems/${code}`, words: `${code} ${status} problem` };
      }),
  ];
}
