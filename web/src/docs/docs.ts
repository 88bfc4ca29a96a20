// The published contract at /v1/openapi.json, and its reference and the guides under /docs.
import type { Assets } from '../assets.ts';
import type { FindPage } from '../page.ts';
import { createDocumentation, type DocumentationSources } from './documentation.ts';

export type { DocumentationSources };

export function docsPages(sources: DocumentationSources, assets: Assets): FindPage {
  const pages = createDocumentation(sources, assets);
  return (request) => {
    const page = pages.get(request.path);
    return page && (() => page.respond(request));
  };
}
