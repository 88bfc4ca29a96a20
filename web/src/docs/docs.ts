// The published contract at /v1/openapi.json, and its reference and the guides under /docs.
import { notModified } from '@shop/shared/protocol';
import type { Assets } from '../assets.ts';
import type { FindPage, PageRequest, PageResponse } from '../page.ts';
import type { StaticPage } from '../static-page.ts';
import { createDocumentation, type DocumentationSources } from './documentation.ts';

export type { DocumentationSources };

export function docsPages(sources: DocumentationSources, assets: Assets): FindPage {
  const pages = createDocumentation(sources, assets);
  return (request) => {
    const page = pages.get(request.path);
    return page && (() => respond(page, request));
  };
}

async function respond(page: StaticPage, { headers: given }: PageRequest): Promise<PageResponse> {
  const { body, etag, encoding } = await page.encoded(given['accept-encoding']?.toString());
  const { type, cacheControl, contentPolicy } = page;
  const headers = ['ETag', etag, 'Cache-Control', cacheControl, 'Vary', 'Accept-Encoding'];
  const policy = contentPolicy === undefined ? {} : { contentPolicy };
  if (notModified(given, etag)) return { status: 304, headers, ...policy };
  if (encoding !== undefined) headers.push('Content-Encoding', encoding);
  return { type, body, headers, ...policy };
}
