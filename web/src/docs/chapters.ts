// The guides of the documentation: those for clients, those for operators, and the runbooks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sections } from './docs-layout.ts';
import { type EventDocument, eventList } from './event-list.ts';
import { type Guide, renderGuide } from './guide.ts';
import { problemList } from './problem-list.ts';
import { settingList } from './setting-list.ts';

/** The names of the guides for clients in the order of the navigation. Each is a file `<name>.md` in the folder of the guides. */
export const guideNames = [
  'getting-started',
  'accounts',
  'filtering',
  'pagination',
  'errors',
  'idempotency',
  'events',
  'staff',
  'taking-payments',
  'migration',
] as const;

/** The names of the guides for operators, in the same way. */
export const operatorGuideNames = [
  'deploying',
  'settings',
  'command-line',
  'emails',
  'identity-provider',
  'growing',
  'proofs',
] as const;

export interface PageOfGuide extends Guide {
  readonly address: string;
  /** The title in lists. */
  readonly short: string;
}

/** Guides in the order in which they are read. */
export interface Chapter {
  readonly title: string;
  /** The link of the top navigation that is marked. */
  readonly section: string;
  readonly guides: readonly PageOfGuide[];
}

/** @throws when a guide is missing */
export function readChapters(folder: string, events: readonly EventDocument[]): Chapter[] {
  const generated = {
    problems: problemList,
    events: () => eventList(events),
    settings: () => settingList(readFileSync(join(folder, '../.env.example'), 'utf8')),
  };
  const read = (name: string, file = `${name}.md`): PageOfGuide =>
    renderMarkdown(name, readFileSync(join(folder, file), 'utf8'), generated);
  const runbooks = readdirSync(join(folder, 'runbooks')).filter((file) => file !== 'README.md');
  const { guides, operating } = sections;
  return [
    { title: guides.short, section: guides.address, guides: guideNames.map((name) => read(name)) },
    { title: operating.short, section: operating.address, guides: operatorGuideNames.map((name) => read(name)) },
    {
      title: 'Runbooks',
      section: operating.address,
      guides: [
        read('runbooks', 'runbooks/README.md'),
        ...runbooks.toSorted().map((file) => read(`runbooks/${file.slice(0, -'.md'.length)}`)),
      ],
    },
  ];
}

/** @param name the path of the page below `/docs` */
export function renderMarkdown(
  name: string,
  text: string,
  generated: Readonly<Record<string, () => string>> = {},
): PageOfGuide {
  const isInRunbooks = name.startsWith('runbooks');
  const guide = renderGuide(text, { generated, base: isInRunbooks ? '/docs/runbooks' : '/docs' });
  const [own = ''] = name.split('/').slice(-1);
  return { ...guide, address: `/docs/${name}`, short: capitalised(own.replaceAll('-', ' ')) };
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
