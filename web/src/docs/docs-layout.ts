// The frame of the documentation: its sections, and the list of all its pages.

import { escapeHtml } from '@shop/shared/runtime';
import type { Assets } from '../assets.ts';
import { createLayout, type Layout } from '../layout.ts';
import type { OperationView } from './reference/operation-view.ts';

export const sections = {
  guides: { address: '/docs/getting-started', short: 'Guides' },
  operating: { address: '/docs/deploying', short: 'Operating' },
  reference: { address: '/docs/reference', short: 'Reference' },
  problems: { address: '/problems', short: 'Problems' },
  changelog: { address: '/docs/changelog', short: 'Changelog' },
} as const;

export function docsLayout(assets: Assets): Layout {
  return createLayout(assets, Object.values(sections), true);
}

interface Link {
  readonly address: string;
  readonly short: string;
  /** HTML before the title. */
  readonly mark?: string;
}

export interface SideNavigation {
  /** Returns HTML of the list with the group of the current page open. */
  at(address: string): string;
}

/**
 * @param chapters the guides of each chapter
 * @param tags the operations of each tag
 */
export function sideNavigation(
  chapters: readonly { readonly title: string; readonly guides: readonly Link[] }[],
  tags: readonly { readonly tag: string; readonly operations: readonly OperationView[] }[],
): SideNavigation {
  const groups: readonly { readonly title: string; readonly links: readonly Link[] }[] = [
    ...chapters.map(({ title, guides }) => ({ title, links: guides })),
    ...tags.map(({ tag, operations }) => ({
      title: tag,
      links: operations.map(({ address, summary, method }) => ({
        address,
        short: summary,
        mark: `<span class="method ${method.toLowerCase()}">${method}</span> `,
      })),
    })),
    {
      title: 'More',
      links: [
        { address: '/docs/reference', short: 'All operations' },
        sections.problems,
        sections.changelog,
        { address: '/docs#downloads', short: 'Downloads' },
      ],
    },
  ];
  return {
    at(current) {
      const opened = groups.find(({ links }) => links.some(({ address }) => address === current)) ?? groups[0];
      return groups
        .map((group) => {
          const items = group.links.map(({ address, short, mark = '' }) => {
            const now = address === current ? ' aria-current="page"' : '';
            return `<li><a href="${address}"${now}>${mark}${escapeHtml(short)}</a></li>`;
          });
          const open = group === opened ? ' open' : '';
          const label = group.title === tags[0]?.tag ? '<p class="label">Reference</p>\n' : '';
          return `${label}<details${open}><summary>${escapeHtml(group.title)}</summary><ul>${items.join('')}</ul></details>`;
        })
        .join('\n');
    },
  };
}
