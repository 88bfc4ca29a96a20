// The guides of the documentation: those for clients, those for operators, and the runbooks.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { sections } from './docs-layout.ts';
import { type EventDocument, eventList } from './event-list.ts';
import { type Guide, renderGuide } from './guide.ts';
import { problemList } from './problem-list.ts';
import { settingList } from './setting-list.ts';

/**
 * The names of the guides for clients in the order of the navigation. Each is a file `<name>.md` in the folder of the
 * guides.
 */
export const guideNames = [
  'getting-started',
  'accounts',
  'filtering',
  'pagination',
  'errors',
  'idempotency',
  'events',
  'following-changes',
  'webhooks',
  'staff',
  'shipping-taxes-discounts',
  'returns',
  'invoices',
  'taking-payments',
  'stripe',
  'migration',
] as const;

/** The chapters for operators in the order of the navigation, and the names of their guides. */
const operatorChapters = {
  Deploying: [
    'deploying',
    'deploying/docker-compose',
    'deploying/kubernetes',
    'deploying/images',
    'deploying/upgrades',
    'deploying/secrets',
    'deploying/backups',
    'deploying/monitoring',
    'deploying/proxy',
    'deploying/client-connections',
    'deploying/other-origins',
    'deploying/isolation',
    'deploying/postgresql-cluster',
    'deploying/failover',
    'deploying/rabbitmq-cluster',
    'deploying/event-consumers',
    'deploying/search-language',
  ],
  Operating: ['settings', 'command-line', 'emails', 'identity-provider', 'proofs'],
  Growing: [
    'growing',
    'growing/replicas',
    'growing/connections',
    'growing/pages-in-memory',
    'growing/read-replicas',
    'growing/database-per-service',
    'growing/partitions',
    'growing/broker',
    'growing/disk-space',
  ],
};

/** The names of the guides for operators, in the same way. */
export const operatorGuideNames = Object.values(operatorChapters).flat();

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
    ...Object.entries(operatorChapters).map(([title, names]) => ({
      title,
      section: operating.address,
      guides: names.map((name) => read(name)),
    })),
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
  // The page of the runbooks is the README of their folder.
  const base = name === 'runbooks' ? '/docs/runbooks' : posix.dirname(`/docs/${name}`);
  const guide = renderGuide(text, { generated, base });
  const isShort = !name.includes('/') && name.split('-').length < 3;
  const short = isShort ? capitalised(name.replaceAll('-', ' ')) : guide.title;
  return { ...guide, address: `/docs/${name}`, short };
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
