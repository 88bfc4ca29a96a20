// Serves the pages of the documentation: the published document, its reference, the guides, and the downloads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleDocument } from '@shop/shared/contract';
import { serviceNames } from '@shop/shared/shop';
import type { Assets } from '../assets.ts';
import { type Page, pagePolicy } from '../layout.ts';
import { StaticPage } from '../static-page.ts';
import { readChapters, renderMarkdown } from './chapters.ts';
import { docsLayout, sections, sideNavigation } from './docs-layout.ts';
import type { EventDocument } from './event-list.ts';
import { guideHtml } from './guide-page.ts';
import { llmsText } from './llms.ts';
import { overviewHtml, referenceHtml } from './overview-page.ts';
import { type PublishedContract, publishedDocument } from './published-document.ts';
import { exampleRequest } from './reference/example-request.ts';
import { operationHtml } from './reference/operation-page.ts';
import { operationsByTag, operationViews } from './reference/operation-view.ts';
import { searchIndex } from './search-index.ts';

export interface DocumentationSources {
  readonly contracts: readonly PublishedContract[];
  /** The folder of the guides. The changelog is beside it. */
  readonly guides: string;
  /** The folder of the services, each with its AsyncAPI document. */
  readonly services: string;
}

const json = { type: 'application/json' };

/**
 * Creates the pages by path. The content of a page is created at the first request for it.
 * @throws when a document or guide is missing or invalid
 */
export function createDocumentation(sources: DocumentationSources, assets: Assets): Map<string, StaticPage> {
  const { contracts, guides, services } = sources;
  const document = publishedDocument(contracts);
  const events = serviceNames.map(
    (service): EventDocument => ({ service, document: bundleDocument(join(services, service, 'asyncapi.yaml')) }),
  );
  const operations = operationViews(document);
  const tags = operationsByTag(document, operations);
  const chapters = readChapters(guides, events);
  const changelog = renderMarkdown('changelog', readFileSync(join(guides, '../CHANGELOG.md'), 'utf8'));
  const side = sideNavigation(chapters, tags);
  const layout = docsLayout(assets);

  const pages = new Map(assets.pages);
  const add = (page: Omit<Page, 'content'>, content: () => string): void => {
    const create = (): string => layout.page({ ...page, side: side.at(page.address), content: content() });
    pages.set(page.address, new StaticPage(create, { type: 'text/html; charset=utf-8', contentPolicy: pagePolicy }));
  };
  const styles = ['guide.css'] as const;

  const overview = {
    title: 'Documentation',
    address: '/docs',
    section: '',
    styles: ['guide.css', 'home.css'],
  } as const;
  add(overview, () => overviewHtml(chapters, tags, serviceNames));
  const { address: reference } = sections.reference;
  add({ title: 'Reference', address: reference, styles }, () => referenceHtml(tags));
  for (const operation of operations) {
    // The page of a stream has no form.
    const scripts = exampleRequest(operation).streams ? [] : (['try.js'] as const);
    const { summary: title, address } = operation;
    add({ title, address, section: reference, styles: ['reference.css'], scripts }, () =>
      operationHtml(document, operation),
    );
  }
  for (const { section, guides: ofSection } of chapters)
    for (const [index, guide] of ofSection.entries()) {
      const page = { title: guide.title, address: guide.address, section, styles };
      add(page, () => guideHtml(guide, { previous: ofSection[index - 1], next: ofSection[index + 1] }));
    }
  add({ title: 'Changelog', address: changelog.address, styles }, () => guideHtml(changelog));

  pages.set('/v1/openapi.json', new StaticPage(() => JSON.stringify(document), json));
  for (const { service, document: asyncapi } of events)
    pages.set(`/docs/asyncapi/${service}.json`, new StaticPage(() => JSON.stringify(asyncapi), json));
  pages.set(
    '/docs/search.json',
    new StaticPage(() => JSON.stringify(searchIndex(document, operations, chapters)), json),
  );
  for (const { address, text } of [...chapters.flatMap((chapter) => chapter.guides), changelog])
    pages.set(`${address}.md`, new StaticPage(text, { type: 'text/markdown; charset=utf-8' }));
  const llms = (): string => llmsText(chapters, operations, serviceNames);
  pages.set('/llms.txt', new StaticPage(llms, { type: 'text/plain; charset=utf-8' }));
  return pages;
}
