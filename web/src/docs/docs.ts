// Policy `docs`: the published contract at /v1/openapi.json, and its reference and the guides under /docs.
import { isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Problem } from '@shop/shared/problem';
import { notModified } from '@shop/shared/protocol';
import type { GatewayRequest, GatewayResponse } from '../../../gateway/src/entry/gateway-request.ts';
import { actionSchema, type Policy } from '../../../gateway/src/entry/policy.ts';
import { isRead } from '../../../gateway/src/entry/read-only.ts';
import { commonHeaders } from '../../../gateway/src/entry/send-response.ts';
import type { StaticPage } from '../static-page.ts';
import { createDocumentation } from './documentation.ts';

interface DocsAction {
  /** The folder of the guides. */
  readonly guides: string;
  /** The folder of the services, each with its AsyncAPI document. */
  readonly services: string;
}

/** Bytes of one write. After each write the connection shows whether a slow client still reads. */
const pieceLength = 64 * 1024;

/** @param folder the configuration folder. The action names files relative to it. */
export function docs(folder: string): Policy {
  const resolvePath = (path: string): string => (isAbsolute(path) ? path : join(folder, path));
  return {
    name: 'docs',
    schema: actionSchema('docs', { guides: { type: 'string' }, services: { type: 'string' } }),
    policy({ guides, services }: DocsAction, { gatewayConfig }) {
      const folders = { folder, guides: resolvePath(guides), services: resolvePath(services) };
      const pages = createDocumentation({ config: gatewayConfig, ...folders });
      return (request, response, next) => {
        answer(pages.get(request.path), request, response).catch(next);
      };
    },
  };
}

async function answer(page: StaticPage | undefined, request: GatewayRequest, response: GatewayResponse): Promise<void> {
  if (page === undefined) throw new Problem('not-found', 'There is nothing at this address.');
  if (!isRead(request, response)) return;
  const { body, etag, encoding } = await page.encoded(request.headers['accept-encoding']?.toString());
  const headers = commonHeaders(request, page.contentPolicy);
  headers.push('ETag', etag, 'Cache-Control', page.cacheControl, 'Vary', 'Accept-Encoding');
  if (notModified(request.headers, etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  headers.push('Content-Type', page.type, 'Content-Length', String(body.length));
  if (encoding !== undefined) headers.push('Content-Encoding', encoding);
  response.writeHead(200, headers);
  // The transfer fails only when the client closes the connection, which needs no handling.
  await pipeline(pieces(body), response).catch(() => {});
}

function* pieces(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += pieceLength) yield body.subarray(start, start + pieceLength);
}
