// The pages of the documentation: the published document, its reference and the guides.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleDocument } from '@shop/shared/contract';
import { serviceNames } from '@shop/shared/runtime';
import type { GatewayConfig } from '../../entry/gateway-config.ts';
import { readAssets } from '../assets.ts';
import { createLayout, guidePolicy, referencePolicy } from '../layout.ts';
import { StaticPage } from '../static-page.ts';
import { type EventDocument, eventList } from './event-list.ts';
import { renderGuide } from './guide.ts';
import { problemList } from './problem-list.ts';
import { publishedDocument } from './published-document.ts';

/** The names of the guides in the order of the navigation. Each is a file `<name>.md` in the folder of the guides. */
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

export interface DocumentationOptions {
  readonly config: Pick<GatewayConfig, 'pipelines'>;
  /** The configuration folder. Contracts are named relative to it. */
  readonly folder: string;
  readonly guides: string;
  /** The folder of the services, each with its AsyncAPI document. */
  readonly services: string;
}

/** Path → page. @throws when a document or guide is missing or invalid */
export function createDocumentation({
  config,
  folder,
  guides,
  services,
}: DocumentationOptions): Map<string, StaticPage> {
  const assets = readAssets();
  const documents = serviceNames.map(
    (service): EventDocument => ({ service, document: bundleDocument(join(services, service, 'asyncapi.yaml')) }),
  );
  const generated = { problems: problemList, events: () => eventList(documents) };
  const rendered = guideNames.map((name) => {
    const guide = renderGuide(readFileSync(join(guides, `${name}.md`), 'utf8'), { generated });
    const short = `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
    return { ...guide, address: `/docs/${name}`, short };
  });
  const reference = { address: '/docs', title: 'Reference', short: 'Reference' };
  const layout = createLayout(assets, [reference, ...rendered]);
  const html = 'text/html; charset=utf-8';

  const pages = new Map(assets.pages);
  pages.set(
    '/v1/openapi.json',
    new StaticPage(JSON.stringify(publishedDocument(config, folder)), { type: 'application/json' }),
  );
  pages.set(
    reference.address,
    new StaticPage(
      layout.page(
        reference,
        '<main id="reference" class="wide-page"><noscript>This page needs JavaScript. ' +
          'The same content is in <a href="/v1/openapi.json">openapi.json</a>.</noscript></main>',
        {
          head: `<link rel="stylesheet" href="${assets.addressOf('swagger-ui.css')}">\n`,
          end:
            `<script src="${assets.addressOf('swagger-ui.js')}"></script>\n` +
            `<script src="${assets.addressOf('reference.js')}"></script>\n`,
        },
      ),
      { type: html, contentPolicy: referencePolicy },
    ),
  );
  for (const guide of rendered) {
    const text = layout.page(guide, `<main class="guide">\n${guide.html}</main>`);
    pages.set(guide.address, new StaticPage(text, { type: html, contentPolicy: guidePolicy }));
  }
  return pages;
}
